//===- ExportedFields.h - what a framework's file keeps of a layout -------===//
//
// Written apart from the exporters' own comparison: the fields by name, one by
// one.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_SUPPORT_EXPORTEDFIELDS_H
#define TESSERA_TEST_SUPPORT_EXPORTEDFIELDS_H

#include "tessera/Planning/Export.h"

namespace tessera::test {

/// Reads what was written for `input`.
inline llvm::Expected<FrameworkRun> readExported(llvm::StringRef format,
                                                 const ExportInput &input,
                                                 const ExportedFile &file) {
  FrameworkReadOptions options;
  options.format = format.str();
  options.layers = input.layers;
  options.experts = input.experts;
  options.latent = input.latent;
  options.gpus = input.layout.numGPUs();
  // Files with fewer stages, or none, are for fewer GPUs.
  if (format == "deepspeed" || format == "accelerate" || format == "nemo")
    options.gpus = 0;
  return readFrameworkText(file.text, "file", options);
}

/// The fields that came back different and were not reported, or were reported
/// and came back the same; "" where there are none.
inline std::string misreported(const ExportInput &input,
                               const FrameworkRun &run,
                               const ExportedFile &file) {
  Layout wanted = withoutMootFields(input.layout, input.layers);
  Layout got = withoutMootFields(run.layout, input.layers);
  std::string out;
  auto expect = [&](llvm::StringRef field, bool same) {
    bool reported = false;
    for (const std::string &loss : file.notExpressed)
      reported |= llvm::StringRef(loss).starts_with((field + " = ").str());
    if (reported == same)
      out += (field + (same ? " came back, but was reported; "
                            : " is lost without a word; "))
                 .str();
  };
  expect("dp", wanted.dp == got.dp);
  expect("shard", wanted.shardGroup == got.shardGroup);
  expect("zero", wanted.zeroStage == got.zeroStage);
  expect("tp", wanted.tp == got.tp);
  expect("sp", wanted.sequenceParallel == got.sequenceParallel);
  expect("cp", wanted.cp == got.cp);
  expect("cp-kind", wanted.contextKind == got.contextKind);
  expect("pp", wanted.pp == got.pp);
  expect("vpp", wanted.vpp == got.vpp);
  expect("layers", wanted.chunkLayers == got.chunkLayers);
  expect("ep", wanted.ep == got.ep);
  expect("etp", wanted.etp == got.etp);
  expect("recompute", wanted.recompute == got.recompute);
  expect("recompute-layers", wanted.recomputeLayers == got.recomputeLayers);
  expect("mb", wanted.microBatch == got.microBatch);
  expect("schedule", wanted.schedule == got.schedule);
  expect("dispatcher", wanted.dispatcher == got.dispatcher);
  expect("grad-overlap", wanted.overlapGradients == got.overlapGradients);
  expect("param-overlap", wanted.overlapParameters == got.overlapParameters);
  expect("tp-overlap",
         wanted.overlapTensorParallel == got.overlapTensorParallel);
  expect("ep-overlap", wanted.overlapExperts == got.overlapExperts);
  expect("pp-overlap", wanted.overlapPipeline == got.overlapPipeline);
  const Workload &a = input.workload, &b = run.workload;
  expect("global batch", a.globalBatch == b.globalBatch);
  expect("sequence length", a.sequence == b.sequence);
  if (!out.empty())
    out += "wanted " + wanted.str() + ", got " + got.str();
  return out;
}

} // namespace tessera::test

#endif // TESSERA_TEST_SUPPORT_EXPORTEDFIELDS_H
