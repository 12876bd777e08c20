//===- MatmulEpilogue.cpp - from sums to stored results -------------------===//
//
// The accumulators pass through shared memory once, so that every thread then
// owns runs of adjacent columns: operands are read and results written with
// accesses of up to 16 bytes, whole rows at a time, and the arithmetic of the
// epilogue is in the IR once, in a loop, whatever the tile.
//
//===----------------------------------------------------------------------===//
#include "EpilogueMath.h"
#include "MatmulTiles.h"

using namespace mlir;
using namespace tessera::kernels;

namespace {
class Epilogue {
public:
  Epilogue(KernelBuilder &kb, const MatmulTiles &tiles, Value tileRow,
           Value tileCol);
  /// Finishes the slab that all threads have stored at `staging`.
  void run(int64_t slab, Value staging);

private:
  /// One access of a thread; `exists` is null if it lies inside for certain.
  struct Place {
    Value stagingRow, row, col, exists;
  };
  Value loadInput(const Place &place, Value memref);
  void rowsOf(int64_t slab, Value staging, Value col, Value localCol,
              Value firstRow, int64_t step);

  KernelBuilder &kb;
  const MatmulTiles &tiles;
  const MatmulSpec &spec;
  Value tileRow, tileCol;
  EpilogueInputs memrefs;
  Value out;
  int64_t width;
};
} // namespace

Epilogue::Epilogue(KernelBuilder &kb, const MatmulTiles &tiles, Value tileRow,
                   Value tileCol)
    : kb(kb), tiles(tiles), spec(tiles.spec), tileRow(tileRow),
      tileCol(tileCol) {
  unsigned next = 2;
  memrefs = epilogueArguments(kb, spec, next);
  out = kb.arg(next);
  // The wider element type decides how many elements 16 bytes hold.
  int64_t bytes = std::max(sizeOf(spec.type), sizeOf(spec.outType));
  width = vectorWidth(spec.n, bytes);
}

/// Of a [m, n] operand, null without one; padding where the place does not
/// exist.
Value Epilogue::loadInput(const Place &place, Value memref) {
  if (!memref)
    return {};
  Value exists = place.exists ? place.exists : kb.boolean(true);
  return kb.loadVectorOr(exists, memref, {place.row, place.col}, width);
}

void Epilogue::run(int64_t slab, Value staging) {
  kb.at("epilogue");
  // Threads side by side take accesses side by side in a row.
  int64_t perRow = tiles.config.blockN / width;
  if (tiles.threads % perRow == 0) {
    Value localCol = kb.mul(kb.rem(kb.thread(), perRow), width);
    rowsOf(slab, staging, kb.add(tileCol, localCol), localCol,
           kb.div(kb.thread(), perRow), tiles.threads / perRow);
    return;
  }
  // More accesses in a row than threads (or an odd number of them).
  kb.loop(kb.thread(), kb.idx(perRow), kb.idx(tiles.threads), [&](Value i) {
    Value localCol = kb.mul(i, width);
    rowsOf(slab, staging, kb.add(tileCol, localCol), localCol, kb.idx(0), 1);
  });
}

/// Rows firstRow, firstRow + step, ... of the slab at one column.
void Epilogue::rowsOf(int64_t slab, Value staging, Value col, Value localCol,
                      Value firstRow, int64_t step) {
  Type f32 = kb.getF32Type();
  bool wholeRows = spec.m % tiles.config.blockM == 0;
  bool wholeCols = spec.n % tiles.config.blockN == 0;
  Value colExists = wholeCols ? Value() : kb.ltU(col, spec.n);
  Value biasVector;
  if (memrefs.bias) {
    biasVector = kb.loadVectorOr(colExists ? colExists : kb.boolean(true),
                                 memrefs.bias, {col}, width);
    biasVector = kb.toF32(biasVector);
  }
  int64_t rows = tiles.slabRows() * tiles.config.warpsM;
  auto placeOf = [&](Value stagingRow) {
    Place place{stagingRow, {}, col, colExists};
    Value warpRow = kb.div(stagingRow, tiles.slabRows());
    Value rest = kb.rem(stagingRow, tiles.slabRows());
    Value local = kb.add(kb.mul(warpRow, tiles.warpM), rest);
    place.row = kb.add(tileRow, kb.add(local, slab * tiles.slabRows()));
    if (!wholeRows) {
      Value exists = kb.ltU(place.row, spec.m);
      place.exists = colExists ? kb.bitAnd(exists, colExists) : exists;
    }
    return place;
  };
  // All loads of `unroll` rows go out before the first result is stored:
  // the compiler cannot move them over a store that might alias.
  int64_t unroll =
      (spec.hasGate || spec.hasResidual) && rows % (4 * step) == 0 ? 4 : 1;
  kb.loop(firstRow, kb.idx(rows), kb.idx(step * unroll), [&](Value row) {
    SmallVector<Place> places;
    SmallVector<EpilogueInputs> inputs;
    for (int64_t i = 0; i < unroll; ++i) {
      places.push_back(placeOf(kb.add(row, i * step)));
      inputs.push_back({biasVector, loadInput(places[i], memrefs.gate),
                        loadInput(places[i], memrefs.residual)});
    }
    for (int64_t i = 0; i < unroll; ++i) {
      Value element =
          kb.add(kb.mul(places[i].stagingRow, tiles.stagingPitch), localCol);
      Value from = kb.advance(staging, kb.mul(element, 4));
      auto store = [&] {
        Value sum = kb.loadPtr(kb.vec(width, f32), from,
                               std::min(width * 4, kVectorBytes));
        sum = emitEpilogueMath(kb, spec, sum, inputs[i]);
        kb.storeVector(kb.convert(sum, spec.outType), out,
                       {places[i].row, col});
      };
      if (places[i].exists)
        kb.ifThen(places[i].exists, store);
      else
        store();
    }
  });
}

void tessera::kernels::emitEpilogue(
    KernelBuilder &kb, const MatmulTiles &tiles, Value tileRow, Value tileCol,
    llvm::function_ref<void(int64_t, Value)> stage) {
  Epilogue epilogue(kb, tiles, tileRow, tileCol);
  Value staging = kb.dynamicShared();
  for (int64_t slab = 0; slab < tiles.slabs; ++slab) {
    kb.at("staging");
    // The main loop, or the previous slab, may still be read.
    kb.barrier();
    stage(slab, staging);
    kb.barrier();
    epilogue.run(slab, staging);
  }
}
