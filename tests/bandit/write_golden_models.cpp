// Writes the golden model files of this version into a folder: goblin_golden_models VERSION FOLDER.

#include "bandit/golden_models.hpp"

#include <cstdlib>
#include <filesystem>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int version = std::atoi(argv[1]);
  for (const goblin::Policy policy : goblin::all_policies) {
    for (const goblin::EngineKind kind : goblin::golden_engines) {
      goblin::golden_model(version, policy, kind)
          .save(std::filesystem::path(argv[2]) / goblin::golden_name(version, policy, kind));
    }
  }
}
