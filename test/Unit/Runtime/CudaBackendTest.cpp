//===- CudaBackendTest.cpp - the CUDA backend over a fake driver ----------===//
//
// Which image is chosen follows NVIDIA's compatibility rules (CUDA C++
// Programming Guide, "Binary Compatibility", "PTX Compatibility"), written out
// as a table here. Whole runs use the fake driver of FakeCuda.cpp.
//
//===----------------------------------------------------------------------===//
#include "RunCommand.h"
#include "lib/Runtime/Device/CudaImages.h"
#include "gtest/gtest.h"

using namespace tessera::rt::cuda;
using namespace tessera::test;

namespace {
std::string best(const std::vector<tessera_image> &images, unsigned sm) {
  tessera_binary_table table{};
  table.num_images = uint32_t(images.size());
  table.images = images.data();
  auto found = usableImages(table, sm);
  if (found.empty())
    return "none";
  return std::string(found[0]->kind == TESSERA_IMAGE_CUBIN ? "cubin "
                                                           : "ptx ") +
         found[0]->chip;
}
tessera_image cubin(unsigned sm, const char *chip) {
  return {TESSERA_IMAGE_CUBIN, sm, chip, "x", 1};
}
tessera_image ptx(unsigned sm, const char *chip) {
  return {TESSERA_IMAGE_PTX, sm, chip, "x", 1};
}

/// The loss line of a run.
std::string lossLine(const CommandResult &r) {
  return r.out.substr(0, r.out.find('\n'));
}

struct CudaProgram : ::testing::Test {
  TempFolder folder;
  CommandResult run(const std::string &environment,
                    const std::string &device = "cuda") {
    std::string tokens = folder.write("t.txt", "1 2 3 4 5 6 7 8 9 10 0 3");
    return runCommand("LD_LIBRARY_PATH=" FAKE_DRIVER " " + environment + " " +
                      FAKE_ONE + " --init random:3 --tokens " + tokens +
                      " --device=" + device);
  }
  void expectFailure(const CommandResult &r, const std::string &part) {
    EXPECT_EQ(r.code, 1);
    EXPECT_EQ(r.out, "");
    EXPECT_NE(r.err.find(part), std::string::npos) << r.err;
  }
};
} // namespace

TEST(CudaImages, CompatibilityRules) {
  std::vector<tessera_image> usual = {ptx(80, "sm_80"), cubin(80, "sm_80"),
                                      cubin(90, "sm_90"), ptx(90, "sm_90")};
  EXPECT_EQ(best(usual, 75), "none");
  EXPECT_EQ(best(usual, 80), "cubin sm_80");
  EXPECT_EQ(best(usual, 86), "cubin sm_80");
  EXPECT_EQ(best(usual, 89), "cubin sm_80");
  EXPECT_EQ(best(usual, 90), "cubin sm_90");
  EXPECT_EQ(best(usual, 100), "ptx sm_90");
  EXPECT_EQ(best({cubin(90, "sm_90"), cubin(90, "sm_90a")}, 90),
            "cubin sm_90a");
  EXPECT_EQ(best({cubin(90, "sm_90a")}, 100), "none");
  EXPECT_EQ(best({ptx(90, "sm_90a")}, 100), "none");
  EXPECT_EQ(best({cubin(100, "sm_100f")}, 103), "cubin sm_100f");
  EXPECT_EQ(best({cubin(100, "sm_100f")}, 120), "none");
  EXPECT_EQ(best({cubin(86, "sm_86")}, 80), "none");
  EXPECT_EQ(best({cubin(80, "sm_80"), cubin(86, "sm_86")}, 89), "cubin sm_86");
}

TEST_F(CudaProgram, SameLossAsTheVirtualGpu) {
  CommandResult real = run(""), simulated = run("", "virtual");
  EXPECT_EQ(real.code, 0) << real.err;
  EXPECT_NE(real.out.find("cuda device 0: Fake GPU, sm_90, 1024 MiB"),
            std::string::npos)
      << real.out;
  EXPECT_EQ(real.err, "loaded fake cubin sm_90a\n");
  EXPECT_EQ(lossLine(real), lossLine(simulated));
  EXPECT_EQ(real.out.find("loss "), 0u);
  // auto takes the GPU where there is one.
  EXPECT_NE(run("", "auto").out.find("Fake GPU"), std::string::npos);
}

TEST_F(CudaProgram, ImageByDevice) {
  EXPECT_EQ(run("FAKE_CUDA_SM=86").err, "loaded fake cubin sm_80\n");
  EXPECT_EQ(run("FAKE_CUDA_SM=120").err, "loaded fake ptx sm_80\n");
  // A cubin that the driver refuses leaves the PTX.
  EXPECT_EQ(run("FAKE_CUDA_FAIL=cubin").err, "loaded fake ptx sm_80\n");
  expectFailure(run("FAKE_CUDA_SM=75"),
                "no embedded image of 'fake' runs on cuda device 0: Fake GPU, "
                "sm_75, 1024 MiB: it embeds ptx sm_80, cubin sm_80, cubin "
                "sm_90a");
}

TEST_F(CudaProgram, Failures) {
  expectFailure(run("FAKE_CUDA_FAIL=init"), "the CUDA driver does not start");
  expectFailure(run("FAKE_CUDA_FAIL=none"), "no CUDA device 0");
  expectFailure(run("FAKE_CUDA_FAIL=memory"),
                "cannot allocate 4096 bytes on cuda device 0: Fake GPU, sm_90, "
                "1024 MiB: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): as asked");
  expectFailure(run("FAKE_CUDA_FAIL=load"), "line 1; fatal");
  expectFailure(run("FAKE_CUDA_FAIL=launch"), "kernel 'local_part'");
  expectFailure(run("FAKE_CUDA_FAIL=kernel"), "CUDA_ERROR_ILLEGAL_ADDRESS");
  // auto falls on the virtual GPU when there is no device.
  EXPECT_NE(run("FAKE_CUDA_FAIL=none", "auto").out.find("virtual GPU"),
            std::string::npos);
}

// Four ranks, the collectives through NCCL (a fake one).
TEST_F(CudaProgram, FourRanksOverNccl) {
  std::string tokens = folder.write("t.txt", "1 2 3 4 5 6 7 8 9 10 0 3");
  auto run = [&](const std::string &environment, const std::string &device) {
    return runCommand(environment +
                      " " FAKE_LAUNCH " 4 " FAKE_FOUR
                      " --init random:3 --tokens " +
                      tokens + " --device=" + device);
  };
  std::string both = "LD_LIBRARY_PATH=" FAKE_DRIVER "-four";
  CommandResult real = run(both, "cuda"), simulated = run("", "virtual");
  EXPECT_EQ(real.code, 0) << real.err;
  EXPECT_EQ(lossLine(real).find("loss "), 0u);
  EXPECT_EQ(lossLine(real), lossLine(simulated));
  expectFailure(run(both + " FAKE_NCCL_FAIL=1", "cuda"),
                "ncclCommInitRank: fake error");
  // A driver without NCCL.
  folder.write("libcuda.so.1", "");
  std::filesystem::copy_file(FAKE_DRIVER "-four/libcuda.so.1",
                             folder.file("libcuda.so.1"),
                             std::filesystem::copy_options::overwrite_existing);
  if (runCommand("ldconfig -p | grep libnccl.so.2").code != 0)
    expectFailure(run("LD_LIBRARY_PATH=" + folder.path, "cuda"),
                  "cannot open NCCL");
}
