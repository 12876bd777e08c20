//===- ChipTable.cpp - the GPUs that come with Tessera --------------------===//
//
// Dense rates: vendors print the sparse ones first, so most are half of the
// headline. Sources, by short name:
//   V100   NVIDIA Tesla V100 datasheet (2018), Volta whitepaper WP-08608
//   A100   NVIDIA A100 datasheet (2021/22), Ampere whitepaper v1.0
//   A800   as A100 with NVLink cut to 400 GB/s (export version datasheet)
//   H100   NVIDIA H100 datasheet (2023), Hopper whitepaper v1.04
//   H200   NVIDIA H200 datasheet (2024); H800: NVLink cut to 400 GB/s
//          (DeepSeek-V3 report, arXiv 2412.19437, section 3.1)
//   B200   NVIDIA Blackwell architecture brief, DGX B200 datasheet (2024)
//   GB200  NVIDIA GB200 NVL72 datasheet (2024): 72 GPUs, 360 PF dense FP16/2
//   B300   NVIDIA DGX B300 / HGX B300 datasheet, GB300 NVL72 datasheet (2025)
//   L40S   NVIDIA L40S datasheet (2023), Ada whitepaper v2.1
//   4090   Ada whitepaper v2.1 (GeForce: half rate for FP32 accumulation)
// Memory is what the driver shows to a process (nvidia-smi), which is below
// the number on the box for HBM3e parts.
//
//===----------------------------------------------------------------------===//
#include "tessera/Hardware/Chip.h"
#include "tessera/Support/Units.h"

using namespace tessera;

static constexpr double T = 1e12, GB = 1e9, KB = kKiB, MB = kMiB, GiB = kGiB;

static Chip v100(const char *name, double memory) {
  Chip c;
  c.name = name;
  c.architecture = Architecture::Volta;
  c.computeCapability = 70;
  c.fp32 = 15.7 * T; // V100 datasheet, SXM2
  c.fp16 = 125 * T;  // V100 datasheet, SXM2 tensor performance
  c.memoryBytes = memory;
  c.memoryBandwidth = 900 * GB;  // V100 datasheet
  c.l2Bytes = 6 * MB;            // WP-08608, table 1
  c.sharedBytesPerSM = 128 * KB; // WP-08608: L1 and shared together
  c.numSMs = 80;                 // WP-08608, table 1
  c.nvlinkBandwidth = 150 * GB;  // six links of 25 GB/s each way
  c.nvlinkDomain = 8;            // DGX-1 mesh; 16 through switches in DGX-2
  c.pcieBandwidth = 16 * GB;     // PCIe 3.0 x16
  c.powerWatts = c.referencePowerWatts = 300;
  c.nicsPerNode = 4;          // DGX-1: four EDR InfiniBand ports
  c.nicBandwidth = 12.5 * GB; // 100 Gb/s
  return c;
}

static Chip a100(const char *name, double memory, double bandwidth,
                 double watts) {
  Chip c;
  c.name = name;
  c.architecture = Architecture::Ampere;
  c.computeCapability = 80;
  c.fp32 = 19.5 * T; // A100 datasheet, dense column throughout
  c.tf32 = 156 * T;
  c.fp16 = c.bf16 = 312 * T;
  c.int8 = 624 * T;
  c.memoryBytes = memory;
  c.memoryBandwidth = bandwidth;
  c.l2Bytes = 40 * MB;           // Ampere whitepaper, table 4
  c.sharedBytesPerSM = 192 * KB; // Ampere whitepaper: 164 KB usable as shared
  c.numSMs = 108;                // Ampere whitepaper, table 4
  c.nvlinkBandwidth = 300 * GB;  // twelve links, 600 GB/s both directions
  c.nvlinkDomain = 8;
  c.nvSwitch = true;
  c.pcieBandwidth = 32 * GB; // PCIe 4.0 x16
  c.powerWatts = watts;
  c.referencePowerWatts = 400;
  c.nicsPerNode = 8;
  c.nicBandwidth = 25 * GB; // DGX A100: HDR InfiniBand, 200 Gb/s each
  return c;
}

static Chip h100(const char *name, double memory, double bandwidth,
                 double watts) {
  Chip c;
  c.name = name;
  c.architecture = Architecture::Hopper;
  c.computeCapability = 90;
  c.fp32 = 67 * T; // H100 datasheet, SXM column halved for dense
  c.tf32 = 494.7 * T;
  c.fp16 = c.bf16 = 989.4 * T; // Hopper whitepaper, table 2
  c.fp8 = 1978.9 * T;
  c.int8 = 1978.9 * T;
  c.memoryBytes = memory;
  c.memoryBandwidth = bandwidth;
  c.l2Bytes = 50 * MB;           // Hopper whitepaper, table 2
  c.sharedBytesPerSM = 256 * KB; // Hopper whitepaper: 228 KB usable as shared
  c.numSMs = 132;                // Hopper whitepaper, SXM5
  c.nvlinkBandwidth = 450 * GB;  // eighteen links, 900 GB/s both directions
  c.nvlinkDomain = 8;
  c.nvSwitch = true;
  c.nvls = true;
  c.pcieBandwidth = 64 * GB; // PCIe 5.0 x16
  c.powerWatts = watts;
  c.referencePowerWatts = 700;
  c.nicsPerNode = 8;
  c.nicBandwidth = 50 * GB; // DGX H100: NDR InfiniBand, 400 Gb/s each
  return c;
}

static Chip blackwell(const char *name, double memory, double bandwidth,
                      double watts) {
  Chip c;
  c.name = name;
  c.architecture = Architecture::Blackwell;
  c.computeCapability = 100;
  c.fp32 = 75 * T; // HGX B200 datasheet, per GPU
  c.tf32 = 1125 * T;
  c.fp16 = c.bf16 = 2250 * T; // DGX B200: 36 PF sparse by 8 GPUs, halved
  c.fp8 = 4500 * T;
  c.fp4 = 9000 * T;
  c.int8 = 4500 * T;
  c.memoryBytes = memory;
  c.memoryBandwidth = bandwidth;
  c.l2Bytes = 126 * MB; // CUDA device query of B200
  c.sharedBytesPerSM =
      256 * KB;                 // CUDA programming guide, compute capability 10
  c.numSMs = 148;               // CUDA device query of B200
  c.nvlinkBandwidth = 900 * GB; // NVLink 5: 1.8 TB/s both directions
  c.nvlinkDomain = 8;
  c.nvSwitch = true;
  c.nvls = true;
  c.pcieBandwidth = 64 * GB; // PCIe 5.0 x16
  c.powerWatts = watts;
  c.referencePowerWatts = 1000;
  c.nicsPerNode = 8;
  c.nicBandwidth = 50 * GB; // DGX B200: 400 Gb/s each
  return c;
}

static std::vector<Chip> makeTable() {
  std::vector<Chip> t;
  auto add = [&](Chip c, std::vector<std::string> aliases) {
    c.aliases = std::move(aliases);
    t.push_back(std::move(c));
  };
  add(v100("v100-16g-sxm", 16 * GiB), {"v100-16gb"});
  add(v100("v100-32g-sxm", 32 * GiB), {"v100", "v100-sxm", "v100-32gb"});

  // A100 datasheet: 40 GB parts 1,555 GB/s, 80 GB SXM 2,039, 80 GB PCIe 1,935.
  add(a100("a100-40g-sxm", 40 * GiB, 1555 * GB, 400),
      {"a100-40gb", "a100-40g"});
  add(a100("a100-80g-sxm", 80 * GiB, 2039 * GB, 400),
      {"a100", "a100-sxm", "a100-80gb", "a100-80g"});
  for (auto [name, memory, bandwidth, watts] :
       {std::tuple{"a100-40g-pcie", 40 * GiB, 1555 * GB, 250.0},
        std::tuple{"a100-80g-pcie", 80 * GiB, 1935 * GB, 300.0}}) {
    Chip c = a100(name, memory, bandwidth, watts);
    c.nvlinkDomain = 2; // bridge between two cards
    c.nvSwitch = false;
    c.nicsPerNode = 4;
    add(c, {std::string(name) + "x"});
  }
  {
    Chip c = a100("a800-80g-sxm", 80 * GiB, 2039 * GB, 400);
    c.nvlinkBandwidth = 200 * GB; // eight links
    add(c, {"a800", "a800-80gb", "a800-sxm"});
  }

  // H100 datasheet: SXM 3.35 TB/s; PCIe 2.0 TB/s and 756 dense TFLOPS;
  // NVL 94 GB at 3.9 TB/s and 835 dense TFLOPS.
  add(h100("h100-sxm", 79.65 * GiB, 3350 * GB, 700),
      {"h100", "h100-80gb", "h100-80g-sxm"});
  {
    Chip c = h100("h100-pcie", 79.65 * GiB, 2039 * GB, 350);
    c.fp32 = 51 * T;
    c.tf32 = 378 * T;
    c.fp16 = c.bf16 = 756 * T;
    c.fp8 = c.int8 = 1513 * T;
    c.numSMs = 114;
    c.nvlinkBandwidth = 300 * GB; // bridge, 600 GB/s both directions
    c.nvlinkDomain = 2;
    c.nvSwitch = c.nvls = false;
    c.nicsPerNode = 4;
    c.referencePowerWatts = 350;
    add(c, {"h100-80g-pcie"});
  }
  {
    Chip c = h100("h100-nvl", 93.1 * GiB, 3938 * GB, 400);
    c.fp32 = 60 * T;
    c.tf32 = 417.5 * T;
    c.fp16 = c.bf16 = 835 * T;
    c.fp8 = c.int8 = 1671 * T;
    c.nvlinkBandwidth = 300 * GB;
    c.nvlinkDomain = 2;
    c.nvSwitch = c.nvls = false;
    c.nicsPerNode = 4;
    c.referencePowerWatts = 400;
    add(c, {"h100-94g-nvl"});
  }
  // The 500 W, HBM2e part of Meta's Grand Teton that TorchTitan's benchmark
  // page describes (benchmarks/llama3_h100_202412_torchtitan.md): five stacks
  // of HBM2e as on the PCIe card, six here.
  add(h100("h100-96g-500w", 95.1 * GiB, 2400 * GB, 500),
      {"h100-96gb-hbm2e", "h100-500w"});
  {
    Chip c = h100("h800-sxm", 79.65 * GiB, 3350 * GB, 700);
    c.nvlinkBandwidth = 200 * GB; // 400 GB/s both directions
    add(c, {"h800", "h800-80gb"});
  }
  add(h100("h200-sxm", 140.4 * GiB, 4800 * GB, 700), {"h200", "h200-141gb"});

  // B200: 180 GB visible, 7.7 TB/s (HGX); 1000 W.
  add(blackwell("b200-sxm", 178.4 * GiB, 7700 * GB, 1000),
      {"b200", "b200-180gb"});
  {
    Chip c = blackwell("b300-sxm", 268 * GiB, 7700 * GB, 1100);
    c.fp4 = 13500 * T; // DGX B300: 108 PF dense FP4 by 8 GPUs
    c.int8 = 150 * T;
    c.nicBandwidth = 100 * GB; // ConnectX-8, 800 Gb/s
    c.pcieBandwidth = 128 * GB;
    add(c, {"b300"});
  }
  {
    Chip c = blackwell("gb200-nvl72", 184 * GiB, 8000 * GB, 1200);
    c.fp32 = 80 * T; // GB200 NVL72 datasheet: 5,760 TF by 72
    c.tf32 = 1250 * T;
    c.fp16 = c.bf16 = 2500 * T; // 360 PF sparse by 72, halved
    c.fp8 = c.int8 = 5000 * T;
    c.fp4 = 10000 * T;
    c.nvlinkDomain = 72;
    c.gpusPerNode = 4;
    c.nicsPerNode = 4;
    add(c, {"gb200"});
  }
  {
    Chip c = blackwell("gb300-nvl72", 276 * GiB, 8000 * GB, 1400);
    c.fp32 = 80 * T; // GB300 NVL72 datasheet
    c.tf32 = 1250 * T;
    c.fp16 = c.bf16 = 2500 * T;
    c.fp8 = 5000 * T;
    c.int8 = 165 * T;
    c.fp4 = 15000 * T; // 1,080 PF dense by 72
    c.nvlinkDomain = 72;
    c.gpusPerNode = 4;
    c.nicsPerNode = 4;
    c.nicBandwidth = 100 * GB; // ConnectX-8, 800 Gb/s
    c.pcieBandwidth = 128 * GB;
    add(c, {"gb300"});
  }
  {
    Chip c; // L40S datasheet, dense
    c.name = "l40s";
    c.architecture = Architecture::Ada;
    c.computeCapability = 89;
    c.fp32 = 91.6 * T;
    c.tf32 = 183 * T;
    c.fp16 = c.bf16 = 362 * T;
    c.fp8 = c.int8 = 733 * T;
    c.memoryBytes = 44.99 * GiB;
    c.memoryBandwidth = 864 * GB;
    c.l2Bytes = 96 * MB;           // Ada whitepaper, AD102 as sold in L40S
    c.sharedBytesPerSM = 128 * KB; // Ada whitepaper
    c.numSMs = 142;
    c.pcieBandwidth = 32 * GB;
    c.powerWatts = c.referencePowerWatts = 350;
    c.nicsPerNode = 4;
    c.nicBandwidth = 25 * GB;
    add(c, {"l40s-48gb"});
  }
  {
    Chip c; // Ada whitepaper, appendix A: GeForce RTX 4090
    c.name = "rtx-4090";
    c.architecture = Architecture::Ada;
    c.computeCapability = 89;
    c.fp32 = 82.6 * T;
    c.tf32 = 82.6 * T;
    c.fp16 = c.bf16 = 165.2 * T; // with FP32 accumulation
    c.fp8 = 330.3 * T;           // with FP32 accumulation
    c.int8 = 660.6 * T;
    c.memoryBytes = 23.99 * GiB;
    c.memoryBandwidth = 1008 * GB;
    c.l2Bytes = 72 * MB;
    c.sharedBytesPerSM = 128 * KB;
    c.numSMs = 128;
    c.pcieBandwidth = 32 * GB;
    c.powerWatts = c.referencePowerWatts = 450;
    c.nicsPerNode = 1;
    c.nicBandwidth = 12.5 * GB;
    add(c, {"4090", "rtx4090"});
  }
  return t;
}

llvm::ArrayRef<Chip> tessera::builtinChips() {
  static const std::vector<Chip> table = makeTable();
  return table;
}
