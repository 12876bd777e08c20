//===- Kernel.h - how long one operation takes on one device --------------===//
//
// A roofline whose compute side knows tiles and waves and whose memory side
// knows two levels. Pure functions of shape, chip and constants; seconds.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_COSTMODEL_KERNEL_H
#define TESSERA_COSTMODEL_KERNEL_H

#include "tessera/CostModel/Constants.h"
#include "tessera/CostModel/Features.h"

namespace tessera {

/// Compute times of products that were asked for before: a search asks for the
/// same few shapes over and over. A table of one entry for each hash; times of
/// one chip and one set of constants only.
class MatmulTimes {
public:
  MatmulTimes() : slots(kSlots) {}
  double get(const MatmulShape &shape, DataType type, double aligned,
             const struct DeviceModel &device);

private:
  static constexpr size_t kSlots = 1 << 12;
  struct Slot {
    MatmulShape shape;
    DataType type = DataType::BF16;
    double aligned = 1;
    double seconds = -1;
  };
  std::vector<Slot> slots;
};

struct DeviceModel {
  const Chip *chip = nullptr;
  const ChipConstants *constants = nullptr;
  /// Traffic of element-wise kernels relative to one ideal pass.
  double vectorTraffic = 1.0;
  AttentionKernel attention = AttentionKernel::Native;
  MatmulTimes *matmuls = nullptr; ///< optional
  /// Narrow experts' products in kernels that quantise and activate too.
  bool fusedExperts = true;
};

/// Compute time of `batch` products [m, k] x [k, n]: the best of a few tile
/// shapes and split-K factors, whole waves of tiles, no memory limit.
double matmulComputeTime(const MatmulShape &shape, DataType type,
                         const DeviceModel &device);

/// Time to move `bytes` through device memory; a working set that fits in half
/// of L2 moves at L2 speed.
double memoryTime(double bytes, const DeviceModel &device);

enum class Direction : uint8_t { Forward, Backward };

/// Device time of an op in one direction, the gaps between its kernels
/// included.
double opTime(const OpFeature &op, Direction direction,
              const DeviceModel &device);

} // namespace tessera

#endif // TESSERA_COSTMODEL_KERNEL_H
