//===- CudaBackend.cpp - a CUDA device ------------------------------------===//
//
// The primary context of one device through the driver API. A binary table's
// image is loaded at its first launch: the best cubin, else PTX compiled by the
// driver, else an error that lists what is embedded.
//
//===----------------------------------------------------------------------===//
#include "CudaDriver.h"
#include "CudaImages.h"
#include "tessera/Runtime/Device.h"

#include <mutex>
#include <vector>

namespace tessera::rt {

namespace {
using namespace cuda;

/// What a table's `state` points to; kept for the life of the process.
struct LoadedTable {
  Module module = nullptr;
  std::vector<Function> functions;
  std::vector<uint32_t> sharedLimit; ///< dynamic bytes already allowed
};

DevicePtr toDevice(const void *p) { return reinterpret_cast<DevicePtr>(p); }

class CudaDevice final : public Device {
public:
  CudaDevice(const Driver &driver, std::string text, unsigned sm)
      : driver(driver), text(std::move(text)), sm(sm) {}

  DeviceKind kind() const override { return DeviceKind::Cuda; }
  std::string describe() const override { return text; }

  Expected<void *> allocate(uint64_t bytes) override {
    DevicePtr pointer = 0;
    if (Status s = driver.check(driver.memAlloc(&pointer, bytes ? bytes : 1),
                                "cuMemAlloc"))
      return failure("cannot allocate ", bytes, " bytes on ", text, ": ",
                     s.message());
    return reinterpret_cast<void *>(pointer);
  }
  Status release(void *pointer) override {
    return driver.check(driver.memFree(toDevice(pointer)), "cuMemFree");
  }
  Status copyToDevice(void *to, const void *from, uint64_t bytes) override {
    return driver.check(driver.copyToDevice(toDevice(to), from, bytes),
                        "cuMemcpyHtoD");
  }
  Status copyToHost(void *to, const void *from, uint64_t bytes) override {
    return driver.check(driver.copyToHost(to, toDevice(from), bytes),
                        "cuMemcpyDtoH");
  }
  Status fill(void *to, int byte, uint64_t bytes) override {
    if (Status s = driver.check(
            driver.fill8(toDevice(to), static_cast<unsigned char>(byte), bytes),
            "cuMemsetD8"))
      return s;
    // The fill itself is asynchronous to the host and to other streams.
    return driver.check(driver.contextSynchronize(), "cuCtxSynchronize");
  }

  Expected<void *> createStream() override {
    Stream stream = nullptr;
    if (Status s = driver.check(driver.streamCreate(&stream, streamNonBlocking),
                                "cuStreamCreate"))
      return s;
    return stream;
  }
  Status destroyStream(void *stream) override {
    return driver.check(driver.streamDestroy(stream), "cuStreamDestroy");
  }
  Status synchronize(void *stream) override {
    return driver.check(driver.streamSynchronize(stream),
                        "cuStreamSynchronize");
  }

  Expected<void *> createEvent() override {
    Event event = nullptr;
    if (Status s = driver.check(driver.eventCreate(&event, 0), "cuEventCreate"))
      return s;
    return event;
  }
  Status destroyEvent(void *event) override {
    return driver.check(driver.eventDestroy(event), "cuEventDestroy");
  }
  Status record(void *event, void *stream) override {
    return driver.check(driver.eventRecord(event, stream), "cuEventRecord");
  }
  Expected<double> elapsed(void *begin, void *end) override {
    float milliseconds = 0;
    if (Status s =
            driver.check(driver.eventSynchronize(end), "cuEventSynchronize"))
      return s;
    if (Status s = driver.check(driver.eventElapsed(&milliseconds, begin, end),
                                "cuEventElapsedTime"))
      return s;
    return static_cast<double>(milliseconds);
  }

  Status launch(const tessera_binary_table *table, uint32_t kernel,
                const LaunchDims &dims, void *stream, void **params) override;

private:
  Status load(const tessera_binary_table &table);
  Expected<Module> loadImage(const tessera_image &image);

  const Driver &driver;
  std::string text;
  unsigned sm;
  std::mutex loading;
};

Expected<Module> CudaDevice::loadImage(const tessera_image &image) {
  std::vector<char> log(16384, 0);
  int options[] = {jitErrorLogBuffer, jitErrorLogBufferSize};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size() - 1)};
  Module module = nullptr;
  Result r = driver.moduleLoad(&module, image.data, 2, options, values);
  if (Status s = driver.check(r, "cuModuleLoadDataEx")) {
    std::string detail = log.data();
    while (!detail.empty() && (detail.back() == '\n' || detail.back() == ' '))
      detail.pop_back();
    return failure("cannot load the ",
                   image.kind == TESSERA_IMAGE_CUBIN ? "cubin" : "PTX", " for ",
                   image.chip, ": ", s.message(), detail.empty() ? "" : ": ",
                   detail);
  }
  return module;
}

Status CudaDevice::load(const tessera_binary_table &table) {
  std::lock_guard<std::mutex> lock(loading);
  if (*table.state)
    return Status::success();
  auto images = usableImages(table, sm);
  if (images.empty())
    return failure("no embedded image of '", table.name, "' runs on ", text,
                   ": it embeds ", listImages(table),
                   "; compile for this chip, or use --device=virtual");
  Status first;
  Module module = nullptr;
  for (const tessera_image *image : images) {
    auto loaded = loadImage(*image);
    if (loaded) {
      module = *loaded;
      break;
    }
    if (!first)
      first = loaded.status();
  }
  if (!module)
    return failure(first.message(), " (on ", text, ", '", table.name,
                   "' embeds ", listImages(table), ")");
  auto *entry = new LoadedTable();
  entry->module = module;
  for (uint32_t i = 0; i < table.num_kernels; ++i) {
    Function function = nullptr;
    if (Status s = driver.check(
            driver.moduleFunction(&function, module, table.kernel_names[i]),
            "cuModuleGetFunction")) {
      delete entry;
      return failure("kernel '", table.kernel_names[i], "': ", s.message());
    }
    entry->functions.push_back(function);
  }
  entry->sharedLimit.assign(table.num_kernels, 0);
  *table.state = entry;
  return Status::success();
}

Status CudaDevice::launch(const tessera_binary_table *table, uint32_t kernel,
                          const LaunchDims &dims, void *stream, void **params) {
  if (Status s = load(*table))
    return s;
  auto *entry = static_cast<LoadedTable *>(*table->state);
  const char *name = table->kernel_names[kernel];
  for (int i = 0; i < 3; ++i)
    if (dims.grid[i] > UINT32_MAX || dims.block[i] > UINT32_MAX)
      return failure("kernel '", name, "': launch extent over 32 bits");
  // Dynamic shared memory past 48 KiB must be asked for ("CUDA C++ Programming
  // Guide", compute capability 7.x and later).
  uint32_t &allowed = entry->sharedLimit[kernel];
  if (dims.dynamicSharedBytes > allowed) {
    if (Status s =
            driver.check(driver.functionSetAttribute(
                             entry->functions[kernel], functionMaxDynamicShared,
                             static_cast<int>(dims.dynamicSharedBytes)),
                         "cuFuncSetAttribute"))
      return failure("kernel '", name, "' asks for ", dims.dynamicSharedBytes,
                     " bytes of shared memory: ", s.message());
    allowed = dims.dynamicSharedBytes;
  }
  Result r = driver.launch(
      entry->functions[kernel], static_cast<unsigned>(dims.grid[0]),
      static_cast<unsigned>(dims.grid[1]), static_cast<unsigned>(dims.grid[2]),
      static_cast<unsigned>(dims.block[0]),
      static_cast<unsigned>(dims.block[1]),
      static_cast<unsigned>(dims.block[2]), dims.dynamicSharedBytes, stream,
      params, nullptr);
  if (Status s = driver.check(r, "cuLaunchKernel"))
    return failure("kernel '", name, "': ", s.message());
  return Status::success();
}
} // namespace

Expected<int> countCudaDevices() {
  auto driver = openDriver();
  if (!driver)
    return driver.status();
  int count = 0;
  if (Status s =
          (*driver)->check((*driver)->deviceCount(&count), "cuDeviceGetCount"))
    return s;
  return count;
}

Expected<std::unique_ptr<Device>> createCudaDevice(int ordinal) {
  auto opened = openDriver();
  if (!opened)
    return opened.status();
  const Driver &driver = **opened;
  auto count = countCudaDevices();
  if (!count)
    return count.status();
  if (ordinal < 0 || ordinal >= *count)
    return failure("no CUDA device ", ordinal, ": this node has ", *count,
                   "; start at most one rank per device, or use "
                   "--device=virtual");
  DeviceId device = 0;
  Context context = nullptr;
  char name[256] = "";
  int major = 0, minor = 0;
  size_t memory = 0;
  const std::pair<Result, const char *> steps[] = {
      {driver.deviceGet(&device, ordinal), "cuDeviceGet"},
      {driver.deviceName(name, sizeof name - 1, device), "cuDeviceGetName"},
      {driver.deviceAttribute(&major, attributeMajor, device),
       "cuDeviceGetAttribute"},
      {driver.deviceAttribute(&minor, attributeMinor, device),
       "cuDeviceGetAttribute"},
      {driver.deviceMemory(&memory, device), "cuDeviceTotalMem"},
      {driver.contextRetain(&context, device), "cuDevicePrimaryCtxRetain"},
      {driver.contextSet(context), "cuCtxSetCurrent"}};
  for (const auto &[result, what] : steps)
    if (Status s = driver.check(result, what))
      return failure("CUDA device ", ordinal, ": ", s.message());
  std::ostringstream text;
  text << "cuda device " << ordinal << ": " << name << ", sm_" << major << minor
       << ", " << memory / (1 << 20) << " MiB";
  return std::unique_ptr<Device>(new CudaDevice(
      driver, text.str(), static_cast<unsigned>(major * 10 + minor)));
}

} // namespace tessera::rt
