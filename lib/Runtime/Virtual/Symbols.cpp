//===- Symbols.cpp - The functions that virtual-GPU code calls ------------===//

#include "tessera/Runtime/Virtual/DeviceAbi.h"
#include "tessera/Runtime/Virtual/VirtualDevice.h"

#if defined(__x86_64__) || defined(__aarch64__)
// See HalfHelpers.cpp; the types do not matter for an address.
extern "C" {
_Float16 __truncsfbf2(float);
_Float16 __truncdfbf2(double);
_Float16 __truncsfhf2(float);
_Float16 __truncdfhf2(double);
float __extendhfsf2(_Float16);
}
#endif

extern "C" const tessera_virtual_symbol *
tessera_virtual_symbols(size_t *count) {
#define SYMBOL(name)                                                           \
  {                                                                            \
    #name, reinterpret_cast<void *>(&name)                                     \
  }
  static const tessera_virtual_symbol symbols[] = {
      SYMBOL(tessera_virtual_collective),
      SYMBOL(tessera_virtual_member_mask),
      SYMBOL(tessera_virtual_barrier),
      SYMBOL(tessera_virtual_ldmatrix),
      SYMBOL(tessera_virtual_mma),
      SYMBOL(tessera_virtual_shuffle),
      SYMBOL(tessera_virtual_vote),
      SYMBOL(tessera_virtual_warp_sync),
      SYMBOL(tessera_virtual_async_copy),
      SYMBOL(tessera_virtual_async_commit),
      SYMBOL(tessera_virtual_async_wait),
      SYMBOL(tessera_virtual_async_wait_all),
      SYMBOL(tessera_virtual_assert_fail),
      SYMBOL(tessera_virtual_access),
      SYMBOL(tessera_virtual_count),
#if defined(__x86_64__) || defined(__aarch64__)
      SYMBOL(__truncsfbf2),
      SYMBOL(__truncdfbf2),
      SYMBOL(__truncsfhf2),
      SYMBOL(__truncdfhf2),
      SYMBOL(__extendhfsf2),
#endif
  };
#undef SYMBOL
  *count = sizeof(symbols) / sizeof(symbols[0]);
  return symbols;
}
