// Many rewards at once: what they take, the way to the engines, and the way back if something stops it.

#include "belief/belief.hpp"
#include "belief/memory.hpp"
#include "belief/symmetric_matrix.hpp"
#include "jobs.hpp"
#include "vectors.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_set>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <fmt/format.h>

namespace goblin {
namespace {

/// Components from this size on are worked on one after the other, with all threads; smaller ones side by side.
constexpr std::size_t large = 100;

/// How many rewards are worth a copy of an engine with so many nodes, so that others can read meanwhile. Fewer are
/// learned one by one, without one. (A copy of Last.fm's, sparse, takes 2 to 29 ms, a reward 2 ms; a copy of a
/// million nodes, local, about as long as a thousand rewards.)
std::size_t fewest_for_a_copy(std::size_t nodes) { return std::max<std::size_t>(8, nodes / 1000); }

/// How many are worth a copy for the case that they are stopped half way.
constexpr std::size_t fewest_to_be_safe = 32;

}  // namespace

/// Large exact engines are changed in a copy: they would be long in the making from the evidence if something stops it.
/// So is whatever others read, unless the rewards are few: then they are learned one by one.
bool Belief::learns_in_a_copy(const Engine& engine, std::size_t rewards) const {
  if (access_ != nullptr) return rewards >= fewest_for_a_copy(engine.node_count());
  return engine.kind() != EngineKind::local && engine.node_count() >= large && rewards >= fewest_to_be_safe;
}

/// Calls work(k) for every reward, node after node. A thread takes whole nodes: those that begin within its share.
template <typename Work>
void Belief::for_each_by_node(std::span<const UserReward> rewards, std::span<const std::uint32_t> by_node,
                              std::size_t threads, const Work& work) const {
  const auto begin_of_share = [&](std::size_t share) {
    std::size_t at = by_node.size() * share / threads;
    while (at > 0 && at < by_node.size() && rewards[by_node[at]].node == rewards[by_node[at - 1]].node) ++at;
    return at;
  };
  const auto one_share = [&](std::size_t share) {
    for (std::size_t at = begin_of_share(share), end = begin_of_share(share + 1); at < end; ++at) work(by_node[at]);
    return true;
  };
  run_jobs(threads, threads, std::ref(one_share));  // a reference takes no memory
}

/// Takes the memory that add_evidence needs.
void Belief::reserve_evidence(std::span<const UserReward> rewards, std::span<const std::uint32_t> by_node,
                              std::size_t threads) {
  for (const std::uint32_t k : by_node) evidence_.expect(rewards[k].node);
  for_each_by_node(rewards, by_node, threads, [&](std::size_t k) { evidence_.reserve(rewards[k].node); });
  if (!user_evidence_) return;
  for (const UserReward& one : rewards) user_evidence_->reserve(one.user);
}

/// Adds the rewards to the evidence of their nodes and users. The memory has been taken, so that it cannot fail. The
/// sums of a place are taken in the order of the rewards, whatever the number of threads.
void Belief::add_evidence(std::span<const UserReward> rewards, std::span<const std::uint32_t> by_node,
                          std::size_t threads) {
  for_each_by_node(rewards, by_node, threads, [&](std::size_t k) {
    evidence_.add(rewards[k].node, {rewards[k].learned(), dimension()}, rewards[k].reward);
  });
  if (!user_evidence_) return;
  for (const UserReward& one : rewards) user_evidence_->add(one.user, {one.context, lenses_.dimension()}, one.reward);
}

void Belief::put_back(EvidenceBefore& before) {
  for (Evidence::Before& one : before.of_nodes) evidence_.put_back(one);
  for (Evidence::Before& one : before.of_users) user_evidence_->put_back(one);
}

/// The rewards component after component and node after node, those of a node as they came. O(rewards + nodes), or less
/// where they are few.
std::vector<std::uint32_t> Belief::order_by_node(std::span<const UserReward> rewards) const {
  std::vector<std::uint32_t> order(rewards.size());
  if (rewards.size() < node_count() / 16) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Place first = places_[rewards[a].node];
      const Place second = places_[rewards[b].node];
      return std::tie(first.component, first.index) < std::tie(second.component, second.index);
    });
    return order;
  }
  // Counting sort by the position of the node if all components stood one after the other.
  std::vector<std::size_t> begins(components_.size() + 1, 0);
  for (std::size_t k = 0; k < components_.size(); ++k) begins[k + 1] = begins[k] + components_[k].nodes.size();
  const auto position = [&](const UserReward& one) {
    return begins[places_[one.node].component] + places_[one.node].index;
  };
  std::vector<std::uint32_t> next(node_count() + 1, 0);
  for (const UserReward& one : rewards) ++next[position(one) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t k = 0; k < rewards.size(); ++k) order[next[position(rewards[k])]++] = static_cast<std::uint32_t>(k);
  return order;
}

std::vector<Belief::BulkPart> Belief::parts_of(std::span<const UserReward> rewards,
                                               std::span<const std::uint32_t> by_node) const {
  std::vector<BulkPart> parts;
  for (std::size_t at = 0; at < by_node.size(); ++at) {
    const NodeId node = rewards[by_node[at]].node;
    const bool is_new = at == 0 || node != rewards[by_node[at - 1]].node;
    const NodeId component = places_[node].component;
    if (parts.empty() || parts.back().component != component) parts.push_back({.component = component});
    BulkPart& part = parts.back();
    ++part.rewards;
    if (is_new) ++part.nodes;
    if (is_new && evidence_.at(node).count == 0) ++part.new_nodes;
    if (user_evidence_ && user_evidence_->at(rewards[by_node[at]].user).count == 0) ++part.of_new_users;
  }
  return parts;
}

/// What learning so many of the rewards takes, whichever they are: those of every component alike, but as if any
/// component might get all of them where that decides how they are learned.
double Belief::bulk_bytes(std::span<const BulkPart> parts, std::size_t rewards, std::size_t of) const {
  const double share = static_cast<double>(rewards) / static_cast<double>(of);
  const auto scaled = [share](std::size_t count) {
    return static_cast<std::size_t>(std::ceil(share * static_cast<double>(count)));
  };
  const std::size_t threads = thread_count();
  double kept = static_cast<double>(rewards) * (sizeof(NodeReward) + sizeof(std::uint32_t));
  double largest = 0.0;  // of what large components take one after the other,
  double small = 0.0;    // and small ones side by side
  std::size_t places = 0;
  std::size_t users = 0;  // at most
  for (const BulkPart& part : parts) {
    const Engine& engine = *components_[part.component].engine;
    const std::size_t most = std::min(part.rewards, rewards);
    const bool is_large = engine.node_count() >= large;
    const Engine::Bytes bytes = engine.bulk_bytes(most, std::min(part.nodes, most), is_large ? threads : 1);
    kept += bytes.kept * static_cast<double>(scaled(part.rewards)) / static_cast<double>(most);
    if (learns_in_a_copy(engine, most)) kept += static_cast<double>(engine.bytes());
    double& meanwhile = is_large ? largest : small;
    meanwhile = std::max(meanwhile, bytes.meanwhile);
    places += std::min(part.new_nodes, scaled(part.rewards));
    users += scaled(part.of_new_users);
  }
  kept += static_cast<double>(places) * evidence_.place_bytes();
  if (user_evidence_) {
    kept += static_cast<double>(std::min(users, user_evidence_->size())) * user_evidence_->place_bytes();
  }
  if (!lenses_.are_plain()) {
    kept += static_cast<double>(rewards) * (sizeof(UserReward) + static_cast<double>(dimension() * sizeof(double)));
  }
  return kept + std::max(largest, small * static_cast<double>(threads));
}

void Belief::check_bulk_fits(std::span<const BulkPart> parts, std::size_t rewards) const {
  const auto bytes = [&](std::size_t count) { return bulk_bytes(parts, count, rewards); };
  check_memory(
      fmt::format("learning {} rewards at once", rewards), bytes(rewards), options_, [this] { return this->bytes(); },
      [&](std::size_t available) {
        const std::size_t fit = most_that_fit(rewards, available, bytes);
        return fit > 0 ? fmt::format("what would fit: {} at once", fit) : std::string("what would fit: one by one");
      });
}

/// How the engines of a batch's components are changed, and how they get back.
class Belief::BulkChange {
 public:
  BulkChange(Belief& belief, std::span<const NodeReward> lessons, std::span<const std::size_t> begins,
             std::span<const NodeId> components)
      : belief_(belief),
        lessons_(lessons),
        begins_(begins),
        components_(components),
        changed_(components.size()),
        before_(components.size()),
        in_place_(components.size(), 0) {}

  [[nodiscard]] std::size_t size() const { return components_.size(); }
  [[nodiscard]] bool is_large(std::size_t part) const { return component(part).nodes.size() >= large; }
  [[nodiscard]] bool is_sparse(std::size_t part) const { return component(part).engine->kind() == EngineKind::sparse; }
  [[nodiscard]] std::span<const NodeReward> rewards(std::size_t part) const {
    return lessons_.subspan(begins_[part], begins_[part + 1] - begins_[part]);
  }
  [[nodiscard]] const Engine::Changed& changed(std::size_t part) const { return changed_[part]; }

  void learn(std::size_t part, const Work& work) {
    Component& component = this->component(part);
    ComponentEvidence evidence = belief_.evidence_of(component);
    evidence.added = rewards(part);
    if (belief_.learns_in_a_copy(*component.engine, rewards(part).size())) {
      auto copy = component.engine->clone();
      changed_[part] = copy->learn_many(rewards(part), evidence, work);
      belief_.exchange(component, copy);
      before_[part] = std::move(copy);
      return;
    }
    in_place_[part] = 1;
    if (belief_.access_ == nullptr) {
      changed_[part] = component.engine->learn_many(rewards(part), evidence, work);
      return;
    }
    for (const NodeReward& one : rewards(part)) {
      changed_[part].add(component.engine->learn(one.node, {one.context, belief_.dimension()}, one.reward).change());
    }
  }

  void take_back() {
    for (std::size_t part = 0; part < size(); ++part) {
      if (before_[part]) belief_.exchange(component(part), before_[part]);
      if (in_place_[part] != 0) (void)belief_.rebuild(component(part), {});
    }
  }

 private:
  [[nodiscard]] Component& component(std::size_t part) const { return belief_.components_[components_[part]]; }

  Belief& belief_;
  std::span<const NodeReward> lessons_;
  std::span<const std::size_t> begins_;  // of the parts' lessons, and their end
  std::span<const NodeId> components_;
  std::vector<Engine::Changed> changed_;
  std::vector<std::unique_ptr<Engine>> before_;  // that a copy took the place of
  std::vector<std::uint8_t> in_place_;           // flags: the engine itself was changed
};

void Belief::run(BulkChange& change, double needed, std::size_t rewards) {
  const std::size_t threads = thread_count();
  const auto spare_bytes = [this, needed] {
    return static_cast<double>(available_bytes(options_, [this] { return bytes(); })) - needed;
  };
  const Work work{.threads = threads, .spare_bytes = spare_bytes, .progress = never_back(options_.progress)};
  const auto share = [rewards](std::size_t count) { return static_cast<double>(count) / static_cast<double>(rewards); };
  std::size_t done = 0;
  for (std::size_t part = 0; part < change.size(); ++part) {
    if (!change.is_large(part)) continue;
    const std::size_t count = change.rewards(part).size();
    change.learn(part, work.part(share(done), share(done + count)));
    done += count;
  }
  // Nobody may ask for bytes while others change them. Only the caller's thread tells, every hundredth of them.
  bool any_sparse = false;
  for (std::size_t part = 0; part < change.size(); ++part)
    any_sparse |= !change.is_large(part) && change.is_sparse(part);
  const Work alone{
      .threads = 1, .spare_bytes = [spare = any_sparse ? spare_bytes() : 0.0] { return spare; }, .progress = {}};
  const auto caller = std::this_thread::get_id();
  std::atomic<std::size_t> learned = done;
  std::size_t told = done;
  run_jobs(change.size(), threads, [&](std::size_t part) {
    if (change.is_large(part)) return true;
    change.learn(part, alone);
    const std::size_t now = learned += change.rewards(part).size();
    constexpr std::size_t some = 1000;
    if (std::this_thread::get_id() != caller || now - told < std::max(some, rewards / 100)) return true;
    told = now;
    work.tell(share(now));
    return true;
  });
}

/// The same rewards with what the nodes learn of their contexts, which is returned.
std::vector<double> Belief::behind_lenses(std::span<const UserReward> rewards, std::vector<UserReward>& seen) const {
  std::vector<double> contexts(rewards.size() * dimension());
  seen.assign(rewards.begin(), rewards.end());
  for (std::size_t k = 0; k < seen.size(); ++k) {
    const auto at_node = std::span(contexts).subspan(k * dimension(), dimension());
    lenses_.of(seen[k].user, seen[k].node).to_node({seen[k].context, lenses_.dimension()}, at_node);
    seen[k].at_node = at_node.data();
  }
  return contexts;
}

SolveSummary Belief::learn_many(std::span<const UserReward> rewards) {
  if (rewards.empty()) return {};
  const bool behind_lens = lenses_.are_plain() || rewards.front().at_node != nullptr;
  if (rewards.size() == 1) {
    const UserReward& one = rewards.front();
    return behind_lens ? learn(one) : learn(one.user, one.node, {one.context, lenses_.dimension()}, one.reward);
  }
  // Where lenses hash there is one node, and many rewards say no more than their sums. With 256, 1024 and 2048 numbers
  // these cost as much as 310, 440 and 680 rewards one by one.
  if (!behind_lens && lenses_.hash() && 2 * rewards.size() > dimension()) return learn_sums(rewards);
  const std::vector<std::uint32_t> by_node = order_by_node(rewards);
  const std::vector<BulkPart> bulk_parts = parts_of(rewards, by_node);
  check_bulk_fits(bulk_parts, rewards.size());
  std::vector<double> contexts;
  std::vector<UserReward> seen;
  if (!behind_lens) {
    contexts = behind_lenses(rewards, seen);
    rewards = seen;
  }

  // Component after component, without the contexts that are zero: they teach nothing.
  std::vector<NodeReward> lessons;
  std::vector<std::size_t> begins;
  std::vector<NodeId> parts;
  lessons.reserve(rewards.size());
  double longest = longest_learned_;
  for (const std::uint32_t k : by_node) {
    const UserReward& one = rewards[k];
    const std::span<const double> learned(one.learned(), dimension());
    longest = std::max(longest, length_at(one.node, learned));
    if (is_zero(learned)) continue;
    const Place place = places_[one.node];
    if (parts.empty() || place.component != parts.back()) {
      parts.push_back(place.component);
      begins.push_back(lessons.size());
    }
    lessons.push_back({place.index, learned.data(), one.reward});
  }
  begins.push_back(lessons.size());
  BulkChange change(*this, lessons, begins, parts);
  const std::size_t adding = rewards.size() < 1000 ? 1 : thread_count();
  reserve_evidence(rewards, by_node, adding);
  try {
    run(change, bulk_bytes(bulk_parts, rewards.size(), rewards.size()), rewards.size());
  } catch (...) {
    change.take_back();
    throw;
  }
  add_evidence(rewards, by_node, adding);
  rewards_ += rewards.size();
  longest_learned_ = longest;
  SolveSummary summary;
  for (std::size_t part = 0; part < change.size(); ++part) {
    summary.add(account_for(parts[part], change.changed(part)));
  }
  return summary;
}

/// Adds the rewards to the sums, and computes the belief of their node anew, in a copy: O(d m) a reward and O(m^3) for
/// all of them, m the numbers of the node. It is the only node.
SolveSummary Belief::learn_sums(std::span<const UserReward> rewards) {
  const NodeId node = rewards.front().node;
  Component& component = components_[places_[node].component];
  const Engine::Bytes bytes = component.engine->rebuild_bytes(thread_count());
  const auto m = static_cast<double>(dimension());
  double needed = static_cast<double>(component.engine->bytes()) + bytes.kept + bytes.meanwhile + 8.0 * 4.0 * m * m;
  if (user_evidence_) {
    needed += static_cast<double>(std::min(rewards.size(), user_evidence_->size())) * 2.0 *
              (user_evidence_->place_bytes() + sizeof(Evidence::Before));
  }
  check_memory(
      fmt::format("learning {} rewards at once", rewards.size()), needed, options_, [this] { return this->bytes(); },
      [](std::size_t /*available*/) { return std::string("what would fit: one by one"); });

  EvidenceBefore before;
  double longest = longest_learned_;
  double log_determinant = 0.0;
  SolveSummary summary;
  try {
    evidence_.reserve(node);
    before.of_nodes.push_back(evidence_.before(node));
    std::unordered_set<NodeId> users;
    std::vector<double> learned(dimension());
    for (std::size_t k = 0; k < rewards.size(); ++k) {
      const UserReward& one = rewards[k];
      const std::span<const double> context(one.context, lenses_.dimension());
      lenses_.of(one.user, node).to_node(context, learned);
      longest = std::max(longest, length_at(node, learned));
      evidence_.add(node, learned, one.reward);
      if (user_evidence_) {
        if (users.insert(one.user).second) {
          user_evidence_->reserve(one.user);
          before.of_users.push_back(user_evidence_->before(one.user));
        }
        user_evidence_->add(one.user, context, one.reward);
      }
      constexpr std::size_t some = 1024;
      if (options_.progress && k % some == 0) {
        options_.progress(0.5 * static_cast<double>(k) / static_cast<double>(rewards.size()));
      }
    }
    // No edges: N = ridge I + S, and ln|M| = ln|I + S / ridge|.
    Eigen::MatrixXd precision = unpacked(evidence_.at(node).contexts, dimension()) / ridge(node);
    precision.diagonal().array() += 1.0;
    const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factor(precision);
    log_determinant = 2.0 * precision.diagonal().array().log().sum();
    const Work all{.threads = thread_count(), .spare_bytes = {}, .progress = options_.progress};
    auto copy = component.engine->clone();
    summary = copy->rebuild(evidence_of(component), all.part(0.5, 1.0));
    exchange(component, copy);
  } catch (...) {
    put_back(before);
    throw;
  }
  rewards_ += rewards.size();
  longest_learned_ = longest;
  log_determinant_ = log_determinant;
  log_determinant_error_ = 0.0;
  if (!summary.converged) ++unconverged_solves_;
  return summary;
}

/// Of one component. Where others read, and where it could not be done again quickly if something stops it, a copy
/// takes the engine's place.
SolveSummary Belief::rebuild(Component& component, const std::function<void(double)>& progress, bool alone) {
  const Engine& engine = *component.engine;
  const Engine::Bytes bytes = engine.rebuild_bytes(thread_count());
  const bool in_a_copy = !alone && (access_ != nullptr || engine.kind() != EngineKind::local);
  const double needed = bytes.kept + bytes.meanwhile + (in_a_copy ? static_cast<double>(engine.bytes()) : 0.0);
  const Work work{.threads = thread_count(),
                  .spare_bytes =
                      [this, needed] {
                        return static_cast<double>(available_bytes(options_, [this] { return this->bytes(); })) -
                               needed;
                      },
                  .progress = progress};
  if (!in_a_copy) return component.engine->rebuild(evidence_of(component), work);
  auto copy = engine.clone();
  const SolveSummary summary = copy->rebuild(evidence_of(component), work);
  exchange(component, copy);
  return summary;
}

SolveSummary Belief::rebuild() {
  for (const Component& component : components_) {
    const Engine::Bytes bytes = component.engine->rebuild_bytes(thread_count());
    check_memory(
        fmt::format("computing the belief about {} nodes anew", component.nodes.size()),
        bytes.kept + bytes.meanwhile + static_cast<double>(component.engine->bytes()), options_,
        [this] { return this->bytes(); }, [](std::size_t /*available*/) { return std::string("nothing less fits"); });
  }
  SolveSummary summary;
  std::size_t done = 0;
  const Work work{.threads = 1, .spare_bytes = {}, .progress = never_back(options_.progress)};
  for (Component& component : components_) {
    const auto share = [this](std::size_t nodes) {
      return static_cast<double>(nodes) / static_cast<double>(node_count());
    };
    const std::size_t after = done + component.nodes.size();
    summary.add(rebuild(component, work.part(share(done), share(after)).progress));
    done = after;
  }
  if (!summary.converged) ++unconverged_solves_;
  return summary;
}

}  // namespace goblin
