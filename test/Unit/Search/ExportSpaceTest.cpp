//===- ExportSpaceTest.cpp - the searched space through the frameworks ----===//
//
// Layouts of the searched space of random problems, to each framework and back:
// every field comes back equal or is reported, and none is reported that comes
// back.
//
//===----------------------------------------------------------------------===//
#include "Problems.h"
#include "lib/Planning/Search/Expansion.h"
#include "test/Support/ExportedFields.h"
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

TEST(Export, LayoutsOfTheSpaceComeBackOrAreReported) {
  std::mt19937 random(7);
  std::map<std::string, int> lossless;
  int problems = 0, tried = 0;
  while (problems < 12) {
    PlanProblem p = randomProblem(random);
    static const Framework everything; // no stack's limits
    p.framework = &everything;
    if (problems % 4 == 3) // sizes that are no powers of two
      p.model.cluster.nodes = 9;
    if (llvm::errorToBool(p.check()))
      continue;
    ++problems;
    ClosedFormProvider provider(p);
    MeshCache cache(p, provider);
    forEachMesh(p, p.fixed, [&](const Layout &mesh) {
      InnerChoices choices = innerChoices(p, p.fixed, mesh);
      forEachLayout(cache, choices, mesh, [&](const Layout &layout) {
        if (random() % 500 != 0)
          return true;
        ++tried;
        ExportInput input;
        input.layout = layout;
        input.workload = p.workload;
        input.layers = p.shape.layers;
        input.experts = p.shape.experts > 0;
        for (const FrameworkName &name : frameworkNames()) {
          llvm::Expected<ExportedFile> file = exportLayout(name.name, input);
          if (!file) {
            ADD_FAILURE() << name.name.str() << ": " << layout.str() << ": "
                          << toString(file.takeError());
            return false;
          }
          llvm::Expected<FrameworkRun> run =
              readExported(name.name, input, *file);
          if (!run) {
            ADD_FAILURE() << name.name.str() << ": " << layout.str() << ": "
                          << toString(run.takeError()) << "\n"
                          << file->text;
            return false;
          }
          EXPECT_EQ(misreported(input, *run, *file), "")
              << name.name.str() << ": " << layout.str() << "\n"
              << file->text;
          lossless[name.name.str()] += file->notExpressed.empty();
        }
        return !testing::Test::HasFailure();
      });
      return !testing::Test::HasFailure();
    });
  }
  EXPECT_GT(tried, 250);
  // Megatron can say much of the space, DeepSpeed little of it.
  EXPECT_GT(lossless["megatron"], tried / 20);
}
