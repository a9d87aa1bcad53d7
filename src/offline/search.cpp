#include "offline/search.hpp"

#include "bandit/user_map.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace goblin::offline {
namespace {

// The range of the lattice in decades around the unit: a ridge as large as squared contexts says that one reward is
// worth as much as what was known before it.
constexpr int coarse_ridge_low = 2;
constexpr int coarse_ridge_high = 4;
constexpr int coarse_coupling_high = 4;
constexpr int beyond = 2;  // a search may go further than the coarse lattice
// How many times the ridge the coupling may be: conjugate gradients take about the square root of that.
constexpr int coarse_ratio = 3;
constexpr int largest_ratio = 4;
/// Of a likelihood: a smaller gain is none.
constexpr double negligible = 0.1;
/// Beside the ridge; the bandit refuses more than 2e9.
constexpr double largest_coupling = 1e9;
/// The ridge of gob.lin.hub beside the unit, as PolicyInfo::usual_ridge has it for contexts of length 1.
constexpr int hub_ridge = -2 * decade;

int exponent_of(double value) { return static_cast<int>(std::lround(decade * std::log10(value))); }

BanditOptions options_of(const Model& model, Place place) {
  BanditOptions options;
  options.ridge = model.ridge(place);
  options.coupling = value_of(place.coupling);
  options.hub = {.weight = value_of(place.ridge), .ridge = model.ridge(place)};
  return options;
}

}  // namespace

double value_of(int exponent) { return std::pow(10.0, static_cast<double>(exponent) / decade); }

Model::Model(Policy policy, const Graph& users, std::span<const NodeId> clusters, std::size_t dimension, double unit)
    : policy_(policy), users_(users), ridge_centre_(exponent_of(unit)) {
  const UserMap map(policy, users, clusters, {});
  for (NodeId user = 0; user < users.node_count(); ++user) node_of_.push_back(map.node_of(user));
  Graph nodes = node_graph(policy, users, clusters, {});
  const Graph& tied = has_hub(policy) ? users : nodes;
  edges_ = tied.edge_count();
  double weight = 0.0;
  for (std::size_t node = 0; node < tied.node_count(); ++node) {
    const double degree = tied.degree(node);
    weight += 0.5 * degree;
    largest_degree_ = std::max(largest_degree_, degree);
  }
  if (edges_ > 0) coupling_centre_ = exponent_of(unit * static_cast<double>(edges_) / weight);
  likelihood_ = std::make_unique<MarginalLikelihood>(std::move(nodes), dimension);
}

double Model::ridge(Place place) const {
  return has_hub(policy_) ? value_of(ridge_centre_ + hub_ridge) : value_of(place.ridge);
}

PriorMatrix Model::prior(Place place) const {
  if (!has_hub(policy_)) return {likelihood_->nodes(), value_of(place.ridge), value_of(place.coupling)};
  const BanditOptions options = options_of(*this, place);
  return {node_graph(policy_, users_, {}, options), node_ridges(policy_, users_.node_count(), options), 1.0};
}

LikelihoodPoint Model::at(const NodeEvidence& evidence, Place place, std::optional<double> noise) const {
  if (!has_hub(policy_)) return likelihood_->at(evidence, value_of(place.ridge), value_of(place.coupling), noise);
  LikelihoodPoint point = likelihood_->at(evidence, prior(place), noise);
  point.ridge = value_of(place.ridge);
  point.coupling = edges_ > 0 ? value_of(place.coupling) : 0.0;
  return point;
}

std::vector<Place> Model::coarse() const {
  std::vector<Place> places;
  for (int ridge = -coarse_ridge_low; ridge <= coarse_ridge_high; ++ridge) {
    for (int coupling = -lowest_coupling / decade; coupling <= coarse_coupling_high; ++coupling) {
      const Place place{ridge_centre_ + decade * ridge, edges_ > 0 ? coupling_centre_ + decade * coupling : 0};
      if (edges_ == 0 || coupling - ridge <= coarse_ratio) places.push_back(place);
      if (edges_ == 0) break;
    }
  }
  return places;
}

bool Model::allows(Place place) const {
  const int from_centre = place.ridge - ridge_centre_;
  if (from_centre < -decade * (coarse_ridge_low + beyond)) return false;
  if (from_centre > decade * (coarse_ridge_high + beyond)) return false;
  if (edges_ == 0) return place.coupling == 0;
  const int coupling = place.coupling - coupling_centre_;
  return coupling >= -lowest_coupling - decade * beyond && coupling <= decade * (coarse_coupling_high + beyond) &&
         coupling - from_centre <= decade * largest_ratio &&
         value_of(place.coupling) * largest_degree_ <= largest_coupling * ridge(place);
}

bool Model::at_limit(Place place) const {
  for (const int side : {-1, 1}) {
    if (!allows({place.ridge + side, place.coupling})) return true;
    if (edges_ > 0 && !allows({place.ridge, place.coupling + side})) return true;
  }
  return false;
}

Search::Search(const Model& model, Score score, std::vector<Place> begin, int step, int last_step)
    : model_(&model),
      score_(std::move(score)),
      begin_(std::move(begin)),
      step_(step),
      last_step_(last_step),
      best_(begin_.front()) {}

std::vector<Place> Search::next() {
  if (tried_.empty()) return begin_;
  for (; step_ >= last_step_; step_ /= 2) {
    // Another round by the same step, if the last one found something worth going to.
    const bool moved = !centre_ || best_point().log_likelihood > tried_.at(*centre_).log_likelihood + negligible;
    if (moved) centre_ = best_;
    std::vector<Place> places;
    for (int ridge = -1; ridge <= 1; ++ridge) {
      for (int coupling = -1; coupling <= 1; ++coupling) {
        const Place place{centre_->ridge + step_ * ridge, centre_->coupling + step_ * coupling};
        if (!tried_.contains(place) && model_->allows(place)) places.push_back(place);
      }
    }
    if (!places.empty()) return places;
  }
  return {};
}

void Search::take(Place place, const LikelihoodPoint& point) {
  tried_.emplace(place, point);
  if (!tried_.contains(best_) || point.log_likelihood > best_point().log_likelihood) best_ = place;
}

void run(std::span<Search> searches, Work& work) {
  for (;;) {
    struct Job {
      Search* search;
      Place place;
      LikelihoodPoint point;
    };
    std::vector<Job> jobs;
    for (Search& search : searches) {
      for (const Place place : search.next()) jobs.push_back({&search, place, {}});
    }
    if (jobs.empty()) return;
    work.run(jobs.size(), [&](std::size_t k) {
      Job& job = jobs[k];
      job.point = job.search->score_(job.place);
      work.tick(job.search->model_->has_edges() ? 1.0 : 0.0);
    });
    for (const Job& job : jobs) job.search->take(job.place, job.point);
  }
}

}  // namespace goblin::offline
