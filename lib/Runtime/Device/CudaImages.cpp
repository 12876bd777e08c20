//===- CudaImages.cpp - which embedded image suits a device ---------------===//
//
// Filter and sort.
//
//===----------------------------------------------------------------------===//
#include "CudaImages.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace tessera::rt::cuda {

namespace {
char suffixOf(const tessera_image &image) {
  size_t n = image.chip ? std::strlen(image.chip) : 0;
  char last = n ? image.chip[n - 1] : '0';
  return last == 'a' || last == 'f' ? last : 0;
}

bool usable(const tessera_image &image, unsigned sm) {
  if (image.sm > sm)
    return false;
  switch (suffixOf(image)) {
  case 'a':
    return image.sm == sm;
  case 'f':
    return image.sm / 10 == sm / 10;
  default:
    return image.kind == TESSERA_IMAGE_PTX || image.sm / 10 == sm / 10;
  }
}
} // namespace

std::vector<const tessera_image *>
usableImages(const tessera_binary_table &table, unsigned sm) {
  std::vector<const tessera_image *> found;
  for (uint32_t i = 0; i < table.num_images; ++i)
    if (usable(table.images[i], sm))
      found.push_back(&table.images[i]);
  std::sort(found.begin(), found.end(),
            [](const tessera_image *a, const tessera_image *b) {
              auto key = [](const tessera_image *i) {
                return std::make_tuple(i->kind != TESSERA_IMAGE_CUBIN,
                                       -static_cast<int>(i->sm),
                                       suffixOf(*i) == 0, i);
              };
              return key(a) < key(b);
            });
  return found;
}

std::string listImages(const tessera_binary_table &table) {
  std::string text;
  for (uint32_t i = 0; i < table.num_images; ++i) {
    const tessera_image &image = table.images[i];
    text += text.empty() ? "" : ", ";
    text += image.kind == TESSERA_IMAGE_CUBIN ? "cubin " : "ptx ";
    text += image.chip ? image.chip : "?";
  }
  return text.empty() ? "nothing" : text;
}

} // namespace tessera::rt::cuda
