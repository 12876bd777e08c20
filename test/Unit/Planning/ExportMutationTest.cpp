//===- ExportMutationTest.cpp - damaged files of every framework ----------===//
//
// What the exporters wrote, damaged in every place. A damaged file must be
// refused by one message that names the file and what in it is wrong, or mean a
// layout that can be exported: read again and exported once more it loses
// nothing and stays the same.
//
//===----------------------------------------------------------------------===//
#include "AnyLayout.h"
#include "tessera/Planning/Export.h"
#include "test/Support/Mutations.h"
#include "gtest/gtest.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::test;

namespace {
class Damaged : public testing::TestWithParam<const char *> {
protected:
  FrameworkReadOptions options;

  /// "" where `message` says enough for someone who has only the file.
  static std::string complaintOf(StringRef message, StringRef where) {
    std::string form = complaint(message, (where + ":").str());
    if (!form.empty())
      return form;
    StringRef rest = message.drop_front(where.size() + 1);
    int line;
    bool hasLine = !rest.consumeInteger(10, line);
    // What no single line is to blame for.
    bool whole = any_of(ArrayRef<StringRef>{"no file of a framework", "GPUs",
                                            "layout:", "not well-formed",
                                            "expected", "needs", "virtual"},
                        [&](StringRef part) { return rest.contains(part); });
    if (!hasLine && !rest.contains('\'') && !whole)
      return "names neither a line nor a field";
    return "";
  }

  bool readAgain(const ExportedFile &file, const ExportInput &input,
                 FrameworkRun &out, const Mutation &m) {
    FrameworkReadOptions same = options;
    same.gpus = input.layout.numGPUs();
    // Files with fewer stages, or none, are for fewer GPUs.
    if (options.format == "deepspeed" || options.format == "accelerate" ||
        options.format == "nemo")
      same.gpus = 0;
    same.layers = input.layers;
    Expected<FrameworkRun> run = readFrameworkText(file.text, "again", same);
    if (!run) {
      ADD_FAILURE() << m.what << ": " << toString(run.takeError()) << "\n"
                    << file.text;
      return false;
    }
    out = *run;
    return true;
  }

  /// Checks one file; whether it was accepted.
  bool check(StringRef format, const FrameworkName &name, const Mutation &m,
             int64_t layers) {
    Expected<FrameworkRun> run =
        readFrameworkText(m.text, name.fileName, options);
    if (!run) {
      std::string message = toString(run.takeError());
      EXPECT_EQ(complaintOf(message, name.fileName), "")
          << m.what << ": " << message << "\n"
          << StringRef(m.text).take_front(3000).str();
      return false;
    }
    ExportInput again;
    again.layout = run->layout;
    again.workload = run->workload;
    again.layers = run->layers ? run->layers : layers;
    again.experts = run->layout.ep > 1 || run->layout.etp > 1;
    Expected<ExportedFile> file = exportLayout(format, again);
    if (!file) {
      // Numbers that do not go together, each of them right.
      std::string message = toString(file.takeError());
      EXPECT_TRUE(StringRef(message).contains("global batch") ||
                  StringRef(message).contains("layers"))
          << m.what << ": " << message << "\n"
          << m.text;
      return false;
    }
    FrameworkRun first, second;
    if (!readAgain(*file, again, first, m))
      return true;
    again.layout = first.layout;
    file = exportLayout(format, again);
    if (!file) {
      ADD_FAILURE() << m.what << ": " << toString(file.takeError());
      return true;
    }
    EXPECT_TRUE(file->notExpressed.empty())
        << m.what << ": " << join(file->notExpressed, "\n") << "\n"
        << m.text;
    if (!readAgain(*file, again, second, m))
      return true;
    EXPECT_EQ(withoutMootFields(second.layout, again.layers).str(),
              withoutMootFields(first.layout, again.layers).str())
        << m.what << "\n"
        << m.text;
    for (const FrameworkRun *r : {&first, &second}) {
      EXPECT_EQ(r->workload.globalBatch, run->workload.globalBatch) << m.what;
      EXPECT_EQ(r->workload.sequence, run->workload.sequence) << m.what;
    }
    return true;
  }
};
} // namespace

TEST_P(Damaged, IsRefusedOrMeansALayout) {
  StringRef format = GetParam();
  FrameworkName name;
  for (const FrameworkName &candidate : frameworkNames())
    if (candidate.name == format)
      name = candidate;
  options.format = format.str();
  Dice dice(5);
  int refused = 0, accepted = 0;
  for (int i = 0; i < 2 && !HasFailure(); ++i) {
    ExportInput input = anyInput(dice);
    options.layers = input.layers;
    ExportedFile file = cantFail(exportLayout(format, input));
    // Some files leave the number of GPUs to the launcher.
    options.gpus = 0;
    if (errorToBool(
            readFrameworkText(file.text, name.fileName, options).takeError()))
      options.gpus = input.layout.numGPUs();
    mutate(file.text, [&](const Mutation &m) {
      if (HasFailure())
        return;
      (check(format, name, m, input.layers) ? accepted : refused)++;
    });
  }
  // The damage must do both, or it does not reach the reader.
  EXPECT_GT(refused, 300);
  EXPECT_GT(accepted, 100);
}

INSTANTIATE_TEST_SUITE_P(All, Damaged,
                         testing::Values("megatron", "megatron-bridge", "nemo",
                                         "torchtitan", "deepspeed", "nanotron",
                                         "accelerate"));
