#include "serve_demo.hpp"

#include "goblin/graph/edge_file.hpp"
#include "goblin/random.hpp"
#include "goblin/world/cliques.hpp"
#include "json.hpp"
#include "saving.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <curl/curl.h>
#include <exception>
#include <memory>
#include <numbers>
#include <numeric>
#include <optional>
#include <queue>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace goblin::app {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr world::CliquesOptions cliques{.dimension = 10, .graph_noise = 40, .payoff_noise = 0.25, .seed = 4};
constexpr std::array<std::string_view, 4> clique_names = {"north", "east", "south", "west"};
constexpr std::size_t film_count = 60;
constexpr std::size_t candidate_count = 10;
constexpr double usual_rate = 30.0;                       // visitors a second
constexpr double rate_swing = 0.5;                        // more or fewer by this share
constexpr Seconds rate_period = std::chrono::minutes(2);  // of the swing
constexpr double answering_share = 0.85;                  // of visitors who say how they liked it
constexpr Seconds longest_delay = std::chrono::seconds(5);
constexpr Seconds between_newcomers = std::chrono::seconds(20);
constexpr std::size_t most_newcomers = 40;
constexpr Seconds after_failure = std::chrono::milliseconds(500);
constexpr long patience_ms = 5000;

std::size_t append(char* bytes, std::size_t /*one*/, std::size_t count, void* text) {
  static_cast<std::string*>(text)->append(bytes, count);
  return count;
}

/// Calls one after the other over a connection that stays open.
class Caller {
 public:
  explicit Caller(std::string address) : address_(std::move(address)), curl_(curl_easy_init(), &curl_easy_cleanup) {
    if (!curl_) throw std::runtime_error("libcurl cannot be started");
    headers_.reset(curl_slist_append(nullptr, "Content-Type: application/json"));
    curl_easy_setopt(curl_.get(), CURLOPT_HTTPHEADER, headers_.get());
    curl_easy_setopt(curl_.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl_.get(), CURLOPT_TIMEOUT_MS, patience_ms);
    curl_easy_setopt(curl_.get(), CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl_.get(), CURLOPT_WRITEFUNCTION, &append);
    curl_easy_setopt(curl_.get(), CURLOPT_WRITEDATA, &answer_);
  }

  /// The answer; none if there was none, or a refusal.
  std::optional<Json> call(const char* method, const std::string& path, const Json& body) {
    const std::string text = body.dump();
    const std::string url = address_ + path;
    answer_.clear();
    curl_easy_setopt(curl_.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl_.get(), CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(curl_.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(text.size()));
    curl_easy_setopt(curl_.get(), CURLOPT_POSTFIELDS, text.c_str());
    long status = 0;
    if (curl_easy_perform(curl_.get()) != CURLE_OK) return std::nullopt;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) return std::nullopt;
    Json json = Json::parse(answer_, nullptr, false);
    if (json.is_discarded()) return std::nullopt;
    return json;
  }

 private:
  std::string address_;
  std::string answer_;
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl_;
  std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers_{nullptr, &curl_slist_free_all};
};

/// Those who come: the users of the world, and newcomers with the taste of their friends.
class Visitors {
 public:
  Visitors(const DemoWorld& world, Caller& caller) : world_(world), caller_(caller) {
    for (std::size_t user = 0; user < world.graph.node_count(); ++user) {
      people_.push_back({std::string(world.graph.names()[user]), user});
    }
  }

  /// Somebody asks for a film, and may say later how they liked it. Whether the server answered.
  bool visit(Clock::time_point now) {
    const Person& person = people_[random_.below(people_.size())];
    std::vector<std::size_t> films(film_count);
    std::iota(films.begin(), films.end(), std::size_t{0});
    Json names = Json::array();
    for (std::size_t k = 0; k < candidate_count; ++k) {
      std::swap(films[k], films[k + random_.below(film_count - k)]);
      names.push_back(std::string(world_.items.names[films[k]]));
    }
    const auto answer = caller_.call("POST", "/v1/select", {{"user", person.name}, {"items", std::move(names)}});
    if (!answer) return false;
    if (random_.uniform() >= answering_share) return true;
    const std::size_t film = films.at(answer->value("arm", film_count));
    const Seconds delay = longest_delay * random_.uniform() * random_.uniform();
    opinions_.push({now + std::chrono::duration_cast<Clock::duration>(delay), answer->value("event", std::string()),
                    liking(person, film)});
    return true;
  }

  /// What was to be said by now. Whether the server answered.
  bool say_opinions(Clock::time_point now) {
    while (!opinions_.empty() && opinions_.top().due <= now) {
      const Opinion opinion = opinions_.top();
      opinions_.pop();
      if (!caller_.call("POST", "/v1/reward", {{"event", opinion.event}, {"reward", opinion.reward}})) return false;
    }
    return true;
  }

  /// Somebody joins who knows two of a clique.
  bool join() {
    if (newcomers_ == most_newcomers) return true;
    const std::size_t first = random_.below(world_.graph.node_count());
    const std::size_t clique = first / cliques.size * cliques.size;
    const std::size_t second = clique + (first - clique + 1 + random_.below(cliques.size - 1)) % cliques.size;
    const std::string name = fmt::format("newcomer-{:02}", newcomers_ + 1);
    const Json friends =
        Json::array({std::string(world_.graph.names()[first]), std::string(world_.graph.names()[second])});
    if (!caller_.call("PUT", "/v1/users/" + name, {{"friends", friends}})) return false;
    ++newcomers_;
    people_.push_back({name, first});
    return true;
  }

  Random& random() { return random_; }

 private:
  struct Person {
    std::string name;
    std::size_t taste_of;  // a user of the world
  };
  struct Opinion {
    Clock::time_point due;
    std::string event;
    double reward;
    bool operator<(const Opinion& other) const { return due > other.due; }  // the next one on top
  };

  /// Taste times film, plus noise, as in every round of the world.
  double liking(const Person& person, std::size_t film) {
    const std::size_t d = world_.items.dimension;
    const auto taste = std::span(world_.tastes).subspan(person.taste_of * d, d);
    const auto context = std::span(world_.items.numbers).subspan(film * d, d);
    const double expected = std::inner_product(context.begin(), context.end(), taste.begin(), 0.0);
    return expected + random_.uniform(-cliques.payoff_noise, cliques.payoff_noise);
  }

  const DemoWorld& world_;
  Caller& caller_;
  Random random_{cliques.seed, 1};
  std::vector<Person> people_;
  std::priority_queue<Opinion> opinions_;
  std::size_t newcomers_ = 0;
};

}  // namespace

DemoWorld demo_world() {
  const world::Cliques world(cliques);
  DemoWorld demo;
  Names names;
  for (std::size_t user = 0; user < world.graph().node_count(); ++user) {
    names.insert(fmt::format("{}-{:02}", clique_names.at(user / cliques.size), user % cliques.size + 1));
  }
  demo.graph = Graph(std::move(names), world.graph().edges());
  const auto vectors = world.truth().value().user_vectors;
  demo.tastes.assign(vectors.begin(), vectors.end());
  // The films are what the world's rounds offer, until there are enough of them.
  demo.items.file = "the demo's films";
  demo.items.dimension = cliques.dimension;
  for (std::uint64_t t = 0; demo.items.names.size() < film_count; ++t) {
    const world::Round round = world.round(t);
    for (std::size_t arm = 0; arm < cliques.arms && demo.items.names.size() < film_count; ++arm) {
      demo.items.names.insert(fmt::format("film-{:02}", demo.items.names.size() + 1));
      const auto context = round.context(arm);
      demo.items.numbers.insert(demo.items.numbers.end(), context.begin(), context.end());
    }
  }
  return demo;
}

DemoTraffic::DemoTraffic(DemoWorld world, std::string address)
    : world_(std::move(world)), address_(std::move(address)), thread_([this] { run(); }) {}

DemoTraffic::~DemoTraffic() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  stops_.notify_one();
  thread_.join();
}

void DemoTraffic::run() {
  Caller caller(address_);
  Visitors visitors(world_, caller);
  const Clock::time_point start = Clock::now();
  Clock::time_point next_visit = start;
  Clock::time_point next_newcomer = start + std::chrono::duration_cast<Clock::duration>(between_newcomers);
  const auto later = [](Clock::time_point time, Seconds wait) {
    return time + std::chrono::duration_cast<Clock::duration>(wait);
  };
  std::unique_lock lock(mutex_);
  while (!stops_.wait_until(lock, next_visit, [this] { return stopping_; })) {
    lock.unlock();
    const Clock::time_point now = Clock::now();
    bool answered = false;
    try {
      answered = visitors.visit(now) && visitors.say_opinions(now);
      if (answered && now >= next_newcomer) {
        next_newcomer = later(now, between_newcomers);
        answered = visitors.join();
      }
    } catch (const std::exception&) {  // an answer of another form is as good as none
      answered = false;
    }
    // Visitors come at random, more of them at some times than at others.
    const double phase = 2.0 * std::numbers::pi * (Seconds(now - start) / rate_period);
    const double rate = usual_rate * (1.0 + rate_swing * std::sin(phase));
    const Seconds wait = answered ? Seconds(-std::log1p(-visitors.random().uniform()) / rate) : after_failure;
    next_visit = later(now, wait);
    lock.lock();
  }
}

DemoFolder::DemoFolder(const DemoWorld& world) {
  std::error_code error;
  std::string pattern = (std::filesystem::temp_directory_path(error) / "goblin-demo-XXXXXX").string();
  if (!error && ::mkdtemp(pattern.data()) == nullptr) error.assign(errno, std::generic_category());
  if (error) {
    throw std::runtime_error(fmt::format(
        "--demo: no folder can be made for temporary files: {} (TMPDIR may name another place)", error.message()));
  }
  path_ = pattern;
  try {
    write_file(graph(), [&](std::ostream& out) { write_edges(out, world.graph); });
    write_file(items(), [&](std::ostream& out) {
      data::write_items(out, world.items.names, {.dimension = world.items.dimension, .numbers = world.items.numbers});
    });
  } catch (...) {
    remove_folder();
    throw;
  }
}

DemoFolder::~DemoFolder() { remove_folder(); }

void DemoFolder::remove_folder() {
  std::error_code none;
  std::filesystem::remove_all(path_, none);
}

}  // namespace goblin::app
