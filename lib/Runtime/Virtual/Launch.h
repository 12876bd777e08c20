//===- Launch.h - Error text of the C API -----------------------*- C++ -*-===//

#ifndef TESSERA_LIB_RUNTIME_VIRTUAL_LAUNCH_H
#define TESSERA_LIB_RUNTIME_VIRTUAL_LAUNCH_H

#include <string>

namespace tessera {
namespace vgpu {

/// This thread's tessera_virtual_last_error().
std::string &lastErrorText();

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_RUNTIME_VIRTUAL_LAUNCH_H
