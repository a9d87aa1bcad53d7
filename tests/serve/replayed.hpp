#pragma once

#include "goblin/bandit/bandit.hpp"
#include "serve/sqlite_store.hpp"

#include <filesystem>

namespace goblin::serve {

/// What a process would believe that read the log from its beginning, one record after the other, and never stopped.
inline Bandit replayed(Bandit bandit, const std::filesystem::path& folder) {
  const SqliteStore store({.folder = folder});
  store.read(1, [&](const Record& record) {
    switch (record.kind) {
      case RecordKind::reward:
      case RecordKind::expired:
        bandit.update(record.user, record.context, record.reward);
        break;
      case RecordKind::user:
        if (!bandit.has_user(record.user)) bandit.add_user(record.user, record.cluster);
        break;
      case RecordKind::edge: {
        const Graph graph = bandit.graph();
        const NodeId a = bandit.user(record.user);
        const NodeId b = bandit.user(record.other_user);
        bool there = false;
        for (const NodeId neighbour : graph.neighbours(a)) there = there || neighbour == b;
        if (there) bandit.remove_edge(a, b);
        bandit.add_edge(a, b, record.weight);
        break;
      }
      case RecordKind::no_edge:
        bandit.remove_edge(record.user, record.other_user);
        break;
      default:
        break;
    }
    return true;
  });
  return bandit;
}

}  // namespace goblin::serve
