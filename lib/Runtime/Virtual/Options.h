//===- Options.h - Options of the virtual GPU -------------------*- C++ -*-===//

#ifndef TESSERA_LIB_RUNTIME_VIRTUAL_OPTIONS_H
#define TESSERA_LIB_RUNTIME_VIRTUAL_OPTIONS_H

#include "tessera/Runtime/Virtual/VirtualDevice.h"

#include <string>

namespace tessera {
namespace vgpu {

/// The options in force. `error` is set if the environment holds a value that
/// cannot be read; the launch reports it.
tessera_virtual_options currentOptions(std::string &error);

/// OS threads that option value 0 stands for.
uint32_t defaultThreads();

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_RUNTIME_VIRTUAL_OPTIONS_H
