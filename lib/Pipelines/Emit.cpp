//===- Emit.cpp - what compilation leaves behind --------------------------===//
#include "lib/Pipelines/Emit.h"

#include "tessera/Support/File.h"
#include "tessera/Target/Executable.h"
#include "tessera/Target/VirtualTarget.h"

#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tessera;

static std::string write(StringRef path,
                         llvm::function_ref<void(llvm::raw_ostream &)> print) {
  if (llvm::Error error = writeFileAtomically(path, print))
    return llvm::toString(std::move(error));
  return "";
}

std::string tessera::emitModule(ModuleOp module, const std::string &path) {
  return write(path, [&](llvm::raw_ostream &out) {
    module.print(out);
    out << "\n";
  });
}

std::string tessera::emitLlvm(ModuleOp module, const std::string &path) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> host = translateHostModule(module, context);
  if (!host)
    return "the host program could not be translated to LLVM IR";
  return write(path,
               [&](llvm::raw_ostream &out) { host->print(out, nullptr); });
}

std::string tessera::emitImages(ModuleOp module, const std::string &path,
                                bool cubin) {
  SmallVector<std::pair<std::string, StringRef>> images;
  auto wanted =
      cubin ? gpu::CompilationTarget::Binary : gpu::CompilationTarget::Assembly;
  for (auto binary : module.getOps<gpu::BinaryOp>())
    for (Attribute attribute : binary.getObjects()) {
      auto object = cast<gpu::ObjectAttr>(attribute);
      auto target = dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget());
      if (target && object.getFormat() == wanted)
        images.push_back(
            {target.getChip().str(), object.getObject().getValue()});
    }
  if (images.empty())
    return cubin ? "no cubin was made: no ptxas found; set TESSERA_PTXAS, "
                   "install a CUDA toolkit, or use --emit=ptx"
                 : "no PTX was made";
  for (auto &[chip, bytes] : images) {
    SmallString<128> file(path);
    if (images.size() > 1 && path != "-") {
      std::string extension = llvm::sys::path::extension(path).str();
      llvm::sys::path::replace_extension(file, "." + chip + extension);
    }
    std::string error =
        write(file, [&, text = bytes](llvm::raw_ostream &out) { out << text; });
    if (!error.empty())
      return error;
  }
  return "";
}

std::string tessera::emitExecutable(ModuleOp module, const std::string &path,
                                    const std::string &runtimeArchive) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> host = translateHostModule(module, context);
  if (!host)
    return "the host program could not be translated to LLVM IR";
  std::string error;
  std::optional<SmallVector<char, 0>> object = emitHostObjectFile(*host, error);
  if (!object)
    return error;
  SmallVector<StringRef> objects = {StringRef(object->data(), object->size())};
  for (auto binary : module.getOps<gpu::BinaryOp>())
    if (StringRef kernels = extractVirtualObject(binary); !kernels.empty())
      objects.push_back(kernels);
  return linkExecutable(objects, {path, runtimeArchive});
}
