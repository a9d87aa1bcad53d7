#pragma once

#include "goblin/data/own_files.hpp"
#include "goblin/graph/graph.hpp"

#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace goblin::app {

/// What `goblin serve --demo` is about: the paper's 4Cliques, with names, and films to choose from.
struct DemoWorld {
  Graph graph;  ///< "north-01" to "west-25": four groups of friends, each with one taste, and some odd friendships
  data::Items items;           ///< "film-01", ...
  std::vector<double> tastes;  ///< user after user, as long as a context; nobody tells the bandit
};
[[nodiscard]] DemoWorld demo_world();

/// Made-up visitors of a server that was started with demo_world(). They come by HTTP as those of an application would:
/// some tens a second ask for one of ten films, most say some seconds later how they liked it, and now and then
/// somebody new joins who has two friends. What fails is tried no further: the next one comes anyway.
class DemoTraffic {
 public:
  /// The address is that of the server, "http://127.0.0.1:8080".
  DemoTraffic(DemoWorld world, std::string address);
  DemoTraffic(const DemoTraffic&) = delete;
  DemoTraffic& operator=(const DemoTraffic&) = delete;
  ~DemoTraffic();

 private:
  void run();

  DemoWorld world_;
  std::string address_;
  std::mutex mutex_;
  std::condition_variable stops_;
  bool stopping_ = false;
  std::thread thread_;
};

/// A folder that is gone afterwards, with the world in files: what `goblin serve` is started with.
class DemoFolder {
 public:
  /// Throws std::runtime_error if there can be none.
  explicit DemoFolder(const DemoWorld& world);
  DemoFolder(const DemoFolder&) = delete;
  DemoFolder& operator=(const DemoFolder&) = delete;
  ~DemoFolder();

  [[nodiscard]] std::string graph() const { return path_ / "edges.tsv"; }
  [[nodiscard]] std::string items() const { return path_ / "items.tsv"; }
  /// For a log that nobody wants to keep.
  [[nodiscard]] std::string store() const { return path_ / "store"; }

 private:
  void remove_folder();

  std::filesystem::path path_;
};

}  // namespace goblin::app
