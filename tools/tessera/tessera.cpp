//===- tessera.cpp - compile and run models -------------------------------===//
#include "tessera/Pipelines/Commands.h"

static const tessera::Command kCommands[] = {
    {"compile", "a model to a sharded executable", tessera::compileCommand},
    {"run", "an executable on several ranks of this machine",
     tessera::runProgramCommand},
    {"plan", "the best layout of a training run on a cluster",
     tessera::planCommand},
    {"explain", "a layout of your own compared with the best",
     tessera::explainCommand},
    {"estimate", "parameters, FLOPs, memory, GPU-hours and energy of a model",
     tessera::estimateCommand},
    {"clusters", "the chips that clusters are made of",
     tessera::clustersCommand},
    {"models", "the model configs that ship with Tessera", tessera::modelsCommand},
    {"scale", "model and token sizes for a compute budget", tessera::scaleCommand},
    {"validate", "predictions against published measurements",
     tessera::validateCommand},
    {"export", "a layout as a training framework's file, and back",
     tessera::exportCommand},
    {"phases", "the phases of the compiler", tessera::phasesCommand},
};

int main(int argc, char **argv) {
  return tessera::runCommand(kCommands, argc, argv);
}
