//===- Session.cpp - one run of a program on one rank ---------------------===//
//
// The stages, each a plain sequence of calls.
//
//===----------------------------------------------------------------------===//
#include "Session.h"
#include "Weights.h"
#include "tessera/Runtime/HostCpu.h"
#include "tessera/Runtime/Virtual/VirtualDevice.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace tessera::rt {

Session::~Session() {
  for (ncclComm_t comm : communicators)
    (void)ncclCommDestroy(comm);
  if (!device)
    return;
  // At the end of the program failures to release no longer matter.
  if (stream)
    (void)device->destroyStream(stream);
  if (params)
    (void)device->release(params);
  if (arena)
    (void)device->release(arena);
  setCurrentDevice(nullptr);
}

Status Session::checkInputs() {
  if (options.tokens.empty())
    return failure("no tokens given; use --tokens FILE (see --help)");
  auto tokens = readTokens(options.tokens, manifest.batch, manifest.sequence,
                           manifest.vocab);
  if (!tokens)
    return tokens.status();
  batch = std::move(*tokens);
  found.tokens = manifest.batch * manifest.sequence;
  found.counted = batch.counted;

  if (options.initSeed) {
    if (Status s = checkInitialisers(manifest))
      return s;
  } else {
    const std::string &path =
        options.weights.empty() ? manifest.weights : options.weights;
    if (path.empty())
      return failure("no weights given; use --weights PATH, or --init "
                     "random:SEED");
    auto opened = Checkpoint::open(path);
    if (!opened)
      return failure(opened.message(),
                     options.weights.empty()
                         ? " (the path given when the program was compiled; "
                           "--weights names another)"
                         : "");
    checkpoint = std::move(*opened);
    if (Status s = checkWeights(manifest, *checkpoint, coords))
      return s;
  }
  if (!options.output.empty() && world.rank() == 0) {
    std::filesystem::path parent =
        std::filesystem::path(options.output).parent_path();
    std::string folder = parent.empty() ? "." : parent.string();
    std::error_code ignored;
    if (std::filesystem::is_directory(options.output, ignored))
      return failure("cannot write '", options.output, "': it is a folder");
    if (access(folder.c_str(), W_OK) != 0)
      return failure("cannot write '", options.output, "': folder '", folder,
                     "': ", std::strerror(errno));
    bool single = options.output.rfind(".npy") == options.output.size() - 4;
    if (single && !manifest.findOutput("nll"))
      return failure("the program has no output 'nll' to write to '",
                     options.output, "'; use a name ending in .safetensors");
  }
  return Status::success();
}

std::string Session::whyNoCuda() {
  auto count = countCudaDevices();
  if (!count)
    return count.message();
  if (*count == 0)
    return "the CUDA driver finds no device";
  return "";
}

Status Session::openDevice(DeviceKind kind) {
  if (kind == DeviceKind::Cuda) {
    auto count = countCudaDevices();
    if (!count)
      return count.status();
    // A starter that binds each rank to one device shows only that one.
    int ordinal = *count == 1 ? 0 : world.info().localRank;
    auto opened = createCudaDevice(ordinal);
    if (!opened)
      return opened.status();
    device = std::move(*opened);
  } else {
    tessera_virtual_options virtualOptions;
    tessera_virtual_get_options(&virtualOptions);
    if (options.virtualSeed)
      virtualOptions.seed = *options.virtualSeed;
    if (options.check)
      virtualOptions.check = 1;
    if (const auto &code = manifest.virtualCode) {
      if (Status s = checkCpu(code->cpu, code->features, hostCpuQuery()))
        return s;
      if ((virtualOptions.check || virtualOptions.count) && !code->instrumented)
        return failure(virtualOptions.check ? "checking" : "counting",
                       " needs a program that was compiled with --instrument");
    }
    tessera_virtual_set_options(&virtualOptions);
    auto opened = createVirtualDevice();
    if (!opened)
      return opened.status();
    device = std::move(*opened);
  }
  setCurrentDevice(device.get());
  found.device = device->describe();
  auto created = device->createStream();
  if (!created)
    return created.status();
  stream = *created;
  return Status::success();
}

Status Session::createCommunicators() {
  // A program of one rank needs no NCCL.
  if (world.size() > 1 || device->kind() == DeviceKind::Virtual)
    if (Status s = selectCollectives(device->kind()))
      return s;
  for (size_t c = 0; c < manifest.communicators.size(); ++c) {
    int64_t rank = 0, size = 1;
    // Everybody with my coordinates along the other axes is in my group, and
    // the one with coordinate 0 along these axes makes its id.
    int64_t leader = 0;
    for (size_t a = 0; a < manifest.mesh.size(); ++a) {
      bool inside = false;
      for (int axis : manifest.communicators[c])
        inside |= axis == static_cast<int>(a);
      leader = leader * manifest.mesh[a].size + (inside ? 0 : coords[a]);
    }
    for (int axis : manifest.communicators[c]) {
      rank = rank * manifest.mesh[axis].size + coords[axis];
      size *= manifest.mesh[axis].size;
    }
    ncclUniqueId mine;
    std::memset(&mine, 0, sizeof mine);
    Status made;
    if (leader == world.rank() && ncclGetUniqueId(&mine) != ncclSuccess)
      made = Status::failure(ncclGetLastError(nullptr));
    std::vector<ncclUniqueId> all(static_cast<size_t>(world.size()));
    if (Status s = world.allGather(&mine, sizeof mine, all.data()))
      return s;
    if (made)
      return made;
    ncclComm_t comm = nullptr;
    if (ncclCommInitRank(&comm, static_cast<int>(size), all[leader],
                         static_cast<int>(rank)) != ncclSuccess)
      return failure("communicator ", manifest.communicatorText(c), ": ",
                     ncclGetLastError(nullptr));
    nameCommunicator(comm, static_cast<int>(c), manifest.communicatorText(c));
    communicators.push_back(comm);
  }
  return Status::success();
}

Status Session::allocate() {
  auto p = device->allocate(manifest.parameterBytes);
  if (!p)
    return failure("parameters: ", p.message());
  params = static_cast<char *>(*p);
  auto a = device->allocate(manifest.arenaBytes);
  if (!a)
    return failure("activations: ", a.message());
  arena = static_cast<char *>(*a);
  return Status::success();
}

Status Session::fillParameters() {
  Status s =
      options.initSeed
          ? drawWeights(manifest, *options.initSeed, coords, *device, params)
          : loadWeights(manifest, *checkpoint, coords, *device, params);
  checkpoint.reset();
  return s ? s : fillTables(manifest, *device, params);
}

Status Session::fillInputs() {
  for (const ShardedTensor &input : manifest.inputs) {
    const std::vector<int32_t> &all =
        input.name == "tokens" ? batch.tokens : batch.labels;
    SliceRequest slice = manifest.slice(input, coords);
    std::vector<int32_t> mine;
    for (int64_t b = 0; b < slice.size[0]; ++b)
      for (int64_t t = 0; t < slice.size[1]; ++t)
        mine.push_back(all[(slice.offset[0] + b) * manifest.sequence +
                           slice.offset[1] + t]);
    if (mine.empty())
      continue;
    if (Status s = device->copyToDevice(arena + input.offset, mine.data(),
                                        mine.size() * sizeof(int32_t)))
      return failure("input '", input.name, "': ", s.message());
  }
  return Status::success();
}

Status Session::run(ForwardFunction forward) {
  std::vector<void *> comms(communicators.begin(), communicators.end());
  auto begin = device->createEvent(), end = device->createEvent();
  if (!begin || !end)
    return begin ? end.status() : begin.status();
  for (int64_t i = 0; i < options.repeat; ++i) {
    // The arena may be reused by activations, so inputs are filled each time.
    if (i > 0)
      if (Status s = fillInputs())
        return s;
    resetCollectiveCounts();
    if (Status s = device->record(*begin, stream))
      return s;
    forward(stream, params, arena, comms.data(), coords.data());
    if (Status s = device->record(*end, stream))
      return s;
    if (Status s = device->synchronize(stream))
      return failure("forward pass: ", s.message());
    auto milliseconds = device->elapsed(*begin, *end);
    if (!milliseconds)
      return milliseconds.status();
    found.milliseconds.push_back(*milliseconds);
    found.collectives = collectiveCounts();
    if (Status s = compareCollectives(manifest, found.collectives))
      return s;
  }
  if (Status s = device->destroyEvent(*begin))
    return s;
  return device->destroyEvent(*end);
}

Status Session::collectOutputs() {
  std::vector<std::vector<float>> local;
  for (const ShardedTensor &output : manifest.outputs) {
    local.emplace_back(output.elements());
    if (output.elements() == 0)
      continue;
    if (Status s = device->copyToHost(local.back().data(),
                                      arena + output.offset, output.bytes()))
      return failure("output '", output.name, "': ", s.message());
  }
  if (Status s = gatherOutputs(manifest, world, local, outputs))
    return s;
  for (const GlobalOutput &output : outputs)
    if (output.tensor->name == "loss" && output.values.size() == 1) {
      found.loss = output.values[0];
      return Status::success();
    }
  return failure("the program has no output 'loss'");
}

Status Session::writeOutput() {
  return options.output.empty() ? Status::success()
                                : writeOutputs(options.output, outputs);
}

} // namespace tessera::rt
