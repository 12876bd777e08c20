//===- Chip.h - accelerators as plain tables ------------------------------===//
//
// What a data sheet says of one GPU. All rates are dense (no sparsity), per
// second, in one direction where a link has two. Fitted efficiencies are not
// here: they belong to the cost model.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_HARDWARE_CHIP_H
#define TESSERA_HARDWARE_CHIP_H

#include "tessera/Support/Json.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

enum class DataType : uint8_t { FP32, TF32, FP16, BF16, FP8, FP4, INT8 };

/// Bytes of one element; FP4 is half a byte (block scales not counted).
double bytesOf(DataType type);
llvm::StringRef nameOf(DataType type);

enum class Architecture : uint8_t { Volta, Ampere, Ada, Hopper, Blackwell };
llvm::StringRef nameOf(Architecture architecture);

struct Chip {
  std::string name;
  std::vector<std::string> aliases;
  /// The built-in chip that a chip of one's own started from: what was fitted
  /// to its runs holds for this one. "" where there is none.
  std::string base;
  Architecture architecture = Architecture::Hopper;
  /// 80 for sm_80.
  int computeCapability = 90;

  /// Dense floating-point operations per second on the matrix units (a
  /// multiply-add is two); 0 where the chip has no such mode.
  double tf32 = 0, fp16 = 0, bf16 = 0, fp8 = 0, fp4 = 0, int8 = 0;
  /// On the vector units.
  double fp32 = 0;

  /// Device memory a process can see, bytes.
  double memoryBytes = 0;
  double memoryBandwidth = 0;
  double l2Bytes = 0;
  /// Shared memory (with L1) of one multiprocessor, bytes.
  double sharedBytesPerSM = 0;
  int numSMs = 0;

  /// One direction, bytes per second; 0: no NVLink.
  double nvlinkBandwidth = 0;
  /// GPUs that NVLink joins: 8 for an HGX board, 72 for NVL72, 2 for a bridge.
  int nvlinkDomain = 1;
  /// All-to-all through switches (otherwise a mesh or a bridge).
  bool nvSwitch = false;
  /// In-switch reduction (SHARP over NVLink), used by NCCL's NVLS algorithm.
  bool nvls = false;
  /// PCIe to the host, one direction, bytes per second.
  double pcieBandwidth = 0;
  double powerWatts = 0;
  /// Power at which the architecture's fitted matrix efficiency was measured;
  /// a part with a lower limit sustains a lower clock.
  double referencePowerWatts = 0;

  /// The usual server around it.
  int gpusPerNode = 8;
  int nicsPerNode = 8;
  /// Bytes per second and direction of one NIC.
  double nicBandwidth = 0;

  /// Dense peak for a type; falls back to the nearest wider type the chip has
  /// (FP8 on A100 runs as BF16) because that is what libraries do.
  double peak(DataType type) const;
};

/// All chips that come with Tessera.
llvm::ArrayRef<Chip> builtinChips();

/// Looks a name or alias up, upper and lower case and '_' being the same.
/// Fails with the nearest name.
llvm::Expected<Chip> findChip(llvm::StringRef name);

/// The table of built-in chips for people (`tessera clusters`).
void printChips(llvm::raw_ostream &os);

/// A chip written as JSON; with "base" it starts from a built-in one, whose
/// efficiencies it has unless it names another architecture. Rates in
/// units of the field names: "bf16_tflops", "memory_gib",
/// "memory_bandwidth_gbps" (10^9 bytes per second), "nvlink_gbps", ...
llvm::Expected<Chip> readChip(const JsonObject &object);

/// The chip in the form that `readChip` reads.
llvm::json::Object toJson(const Chip &chip);

} // namespace tessera

#endif // TESSERA_HARDWARE_CHIP_H
