//===- PlanFlags.h - what plan and explain have in common -------*- C++ -*-===//
#ifndef TESSERA_LIB_PIPELINES_PLANFLAGS_H
#define TESSERA_LIB_PIPELINES_PLANFLAGS_H

#include "Flags.h"
#include "tessera/Forecast/GraphSource.h"
#include "tessera/Planning/Plan.h"

#include "llvm/Support/CommandLine.h"

namespace tessera {

/// The question: model, workload and cluster.
struct PlanInputFlags {
  explicit PlanInputFlags(llvm::cl::OptionCategory &category)
      : model(llvm::cl::Positional, llvm::cl::cat(category),
              llvm::cl::desc("MODEL: a folder, a config.json, the .mlir file "
                             "of a graph or a shipped name")),
        cluster("cluster", llvm::cl::cat(category),
                llvm::cl::value_desc("CHIP:NODESxGPUS"),
                llvm::cl::desc("h100-sxm:16x8, or a JSON or MLIR file")),
        sequence(category, "Tokens of a sequence (default: the model's "
                           "positions, at most 4096)"),
        globalBatch(
            "global-batch", llvm::cl::init(0), llvm::cl::cat(category),
            llvm::cl::value_desc("N"),
            llvm::cl::desc("Sequences of a step (default: about 4M tokens)")),
        precision("precision", llvm::cl::init("bf16"), llvm::cl::cat(category),
                  llvm::cl::value_desc("bf16|fp16|fp8"),
                  llvm::cl::desc("Of the layers' products (default: bf16)")),
        stack("stack", llvm::cl::init("nemo"), llvm::cl::cat(category),
              llvm::cl::value_desc("NAME"),
              llvm::cl::desc("Training software: nemo, megatron-core, "
                             "megatron-bridge, torchtitan, ... (default: "
                             "nemo)")),
        memory("memory", llvm::cl::cat(category), llvm::cl::value_desc("70GiB"),
               llvm::cl::desc("Limit for each GPU (default: what the chip "
                              "has)")),
        skew("expert-skew", llvm::cl::init(1.0), llvm::cl::cat(category),
             llvm::cl::value_desc("X"),
             llvm::cl::desc("Load of the fullest expert rank over the mean "
                            "(default: 1)")) {}

  PlanInput read() const {
    PlanInput in;
    in.model = model;
    in.cluster = cluster;
    in.sequence = sequence;
    in.globalBatch = globalBatch;
    in.precision = precision;
    in.stack = stack;
    in.memory = memory;
    in.expertSkew = skew;
    in.features = makeGraphSource;
    return in;
  }

  llvm::cl::opt<std::string> model, cluster;
  SequenceFlag sequence;
  WholeFlag<> globalBatch;
  llvm::cl::opt<std::string> precision, stack, memory;
  NumberFlag<NumberRange::AtLeastOne> skew;
};

/// What they can write beside their text.
struct PlanOutputFlags {
  explicit PlanOutputFlags(llvm::cl::OptionCategory &category)
      : json("json", llvm::cl::cat(category), llvm::cl::desc("As JSON")),
        details("details", llvm::cl::cat(category),
                llvm::cl::desc("With --json: also the timeline, and figures as "
                               "SVG")),
        report("report", llvm::cl::cat(category),
               llvm::cl::value_desc("out.html"),
               llvm::cl::desc("Also write one self-contained page with "
                              "figures")) {}

  template <typename Options>
  void read(Options &options) const {
    options.json = json;
    options.details = details;
    options.report = report;
  }

  llvm::cl::opt<bool> json, details;
  llvm::cl::opt<std::string> report;
};

} // namespace tessera

#endif // TESSERA_LIB_PIPELINES_PLANFLAGS_H
