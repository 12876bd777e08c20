//===- VirtualBackend.cpp - the virtual GPU as a device -------------------===//
//
// A thin wrapper: device memory is host memory and everything is synchronous,
// so streams are tokens and events are points in time.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/Collectives.h"
#include "tessera/Runtime/Device.h"
#include "tessera/Runtime/Virtual/VirtualDevice.h"

#include <chrono>

namespace tessera::rt {

namespace {
using Clock = std::chrono::steady_clock;

class VirtualDevice final : public Device {
public:
  DeviceKind kind() const override { return DeviceKind::Virtual; }
  std::string describe() const override { return "virtual GPU"; }

  Expected<void *> allocate(uint64_t bytes) override {
    if (void *p = tessera_virtual_malloc(bytes ? bytes : 1))
      return p;
    return failure(
        "cannot allocate ", bytes,
        " bytes of virtual device memory: ", tessera_virtual_last_error());
  }
  Status release(void *pointer) override {
    return check(tessera_virtual_free(pointer));
  }
  Status copyToDevice(void *to, const void *from, uint64_t bytes) override {
    return check(tessera_virtual_memcpy(to, from, bytes));
  }
  Status copyToHost(void *to, const void *from, uint64_t bytes) override {
    return check(tessera_virtual_memcpy(to, from, bytes));
  }
  Status fill(void *to, int byte, uint64_t bytes) override {
    return check(tessera_virtual_memset(to, byte, bytes));
  }

  Expected<void *> createStream() override {
    return static_cast<void *>(&streamToken);
  }
  Status destroyStream(void *) override { return Status::success(); }
  Status synchronize(void *) override {
    return check(tessera_virtual_synchronize());
  }

  Expected<void *> createEvent() override {
    return static_cast<void *>(new Clock::time_point());
  }
  Status destroyEvent(void *event) override {
    delete static_cast<Clock::time_point *>(event);
    return Status::success();
  }
  Status record(void *event, void *) override {
    *static_cast<Clock::time_point *>(event) = Clock::now();
    return Status::success();
  }
  Expected<double> elapsed(void *begin, void *end) override {
    return std::chrono::duration<double, std::milli>(
               *static_cast<Clock::time_point *>(end) -
               *static_cast<Clock::time_point *>(begin))
        .count();
  }

  Status launch(const tessera_binary_table *table, uint32_t kernel,
                const LaunchDims &dims, void *, void **params) override {
    if (!table->virtual_object)
      return failure("kernel '", table->kernel_names[kernel],
                     "' was not compiled for the virtual GPU: use "
                     "--device=cuda, or compile with the virtual target");
    return check(tessera_virtual_launch(table->virtual_object, kernel,
                                        dims.grid, dims.block,
                                        dims.dynamicSharedBytes, params));
  }

private:
  Status check(int code) {
    if (code == 0)
      return Status::success();
    std::string text = tessera_virtual_last_error();
    return Status::failure(text.empty() ? "the virtual GPU failed" : text);
  }
  char streamToken = 0;
};
} // namespace

Expected<std::unique_ptr<Device>> createVirtualDevice() {
  // The checker learns what collectives wrote.
  setWriteObserver(tessera_virtual_note_write);
  return std::unique_ptr<Device>(new VirtualDevice());
}

} // namespace tessera::rt
