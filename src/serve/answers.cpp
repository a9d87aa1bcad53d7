#include "serve/answers.hpp"

#include "serve/json_text.hpp"

#include <algorithm>
#include <cmath>

namespace goblin::serve::answers {
namespace {

using serve::append;

void append_numbers(std::string& out, std::span<const double> numbers) {
  out += '[';
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    if (index > 0) out += ',';
    append_number(out, numbers[index]);
  }
  out += ']';
}

/// `write` for each, with commas between them, in brackets.
template <typename Range, typename Write>
void append_array(std::string& out, const Range& range, Write write) {
  out += '[';
  bool first = true;
  for (const auto& one : range) {
    if (!first) out += ',';
    first = false;
    write(one);
  }
  out += ']';
}

void append_choice(std::string& out, std::string_view event, std::size_t arm, std::string_view item) {
  out += "{\"event\":";
  append_string(out, event);
  append(out, ",\"arm\":{}", arm);
  if (!item.empty()) {
    out += ",\"item\":";
    append_string(out, item);
  }
}

void append_problem_members(std::string& out, const Problem& problem) {
  append(out, "\"status\":{},\"type\":\"/problems/{}\",\"title\":", problem.status, problem.type);
  append_string(out, problem.title);
  out += ",\"detail\":";
  append_string(out, problem.detail);
}

std::string_view name_of(RecordKind kind) {
  switch (kind) {
    case RecordKind::decision:
      return "decision";
    case RecordKind::reward:
      return "reward";
    case RecordKind::expired:
      return "expired";
    case RecordKind::user:
      return "user";
    case RecordKind::edge:
      return "edge";
    case RecordKind::no_edge:
      return "no_edge";
    case RecordKind::item:
      return "item";
    case RecordKind::no_item:
      return "no_item";
    case RecordKind::start:
      return "start";
    case RecordKind::evidence:
      return "evidence";
  }
  return "unknown";
}

void append_record(std::string& out, const Record& record) {
  const bool decision = record.kind == RecordKind::decision;
  const bool rewarded = record.kind == RecordKind::reward || record.kind == RecordKind::expired;
  append(out, "{{\"offset\":{},\"time\":{},\"kind\":\"{}\"", record.offset, record.time, name_of(record.kind));
  if (decision || record.decision > 0) {
    out += ",\"event\":";
    append_string(out, record.event);
  }
  for (const auto& [name, text] :
       {std::pair("user", &record.user), {"other_user", &record.other_user}, {"item", &record.item}}) {
    if (text->empty()) continue;
    append(out, ",\"{}\":", name);
    append_string(out, *text);
  }
  if (decision) {
    append(out, ",\"arm\":{},\"probability\":", record.arm);
    append_number(out, record.probability);
  }
  if (rewarded) {
    out += ",\"reward\":";
    append_number(out, record.reward);
  }
  if (record.kind == RecordKind::edge) {
    out += ",\"weight\":";
    append_number(out, record.weight);
  }
  out += '}';
}

}  // namespace

void append(std::string& out, const Decided& decided) {
  append_choice(out, decided.event, decided.arm, decided.item);
  out += ",\"scores\":";
  out += decided.scores;
  out += ",\"probability\":";
  append_number(out, decided.probability);
  append(out, ",\"offset\":{}}}", decided.offset);
}

void append(std::string& out, const RankedPlaces& ranked) {
  out += "{\"ranked\":";
  append_array(out, ranked.places, [&](const RankedPlace& place) {
    append_choice(out, place.event, place.arm, place.item);
    out += ",\"score\":";
    append_number(out, place.score);
    out += ",\"probability\":";
    append_number(out, place.probability);
    out += '}';
  });
  append(out, ",\"offset\":{}}}", ranked.offset);
}

void append(std::string& out, const Accepted& accepted) {
  append(out, "{{\"offset\":{},\"learned\":{},\"repeated\":{}}}", accepted.offset, accepted.learned, accepted.repeated);
}

void append(std::string& out, std::span<const Result<Accepted>> results, Offset learned) {
  out += "{\"results\":";
  append_array(out, results, [&](const Result<Accepted>& result) {
    if (const auto* accepted = std::get_if<Accepted>(&result)) {
      append(out, "{{\"status\":200,\"offset\":{},\"learned\":{},\"repeated\":{}}}", accepted->offset,
             accepted->learned, accepted->repeated);
    } else {
      out += '{';
      append_problem_members(out, std::get<Problem>(result));
      out += '}';
    }
  });
  append(out, ",\"learned\":{}}}", learned);
}

void append(std::string& out, const ItemView& item) {
  out += "{\"item\":";
  append_string(out, item.item);
  out += ",\"context\":";
  append_numbers(out, item.context);
  out += '}';
}

void append(std::string& out, const UserView& user) {
  out += "{\"user\":";
  append_string(out, user.user);
  append(out, ",\"rewards\":{},\"mean\":", user.rewards);
  append_numbers(out, user.mean);
  out += ",\"deviations\":";
  append_numbers(out, user.deviations);
  if (user.cluster) append(out, ",\"cluster\":{}", *user.cluster);
  out += ",\"friends\":";
  append_array(out, user.friends, [&](const UserView::Friend& one) {
    out += "{\"user\":";
    append_string(out, one.user);
    out += ",\"weight\":";
    append_number(out, one.weight);
    append(out, ",\"rewards\":{}}}", one.rewards);
  });
  append(out, ",\"friend_count\":{}}}", user.friend_count);
}

void append(std::string& out, const Explanation& explanation, const Service& service) {
  // Where evidence is kept for nodes, these are not users, and have no names.
  const auto append_user = [&](NodeId user) {
    append_string(out, explanation.per_node ? fmt::format("node {}", user) : service.name_of(user));
  };
  const auto append_member = [&](std::string_view name, double value) {
    append(out, ",\"{}\":", name);
    append_number(out, value);
  };
  out += "{\"user\":";
  append_string(out, service.name_of(explanation.user));
  append_member("mean", explanation.mean);
  append_member("width", explanation.width);
  out += ",\"width_shares\":{\"own\":";
  append_number(out, explanation.width_shares.own);
  append_member("others", explanation.width_shares.others);
  append_member("prior", explanation.width_shares.prior);
  append_member("unexplained", explanation.width_shares.unexplained);
  out += "},\"contributions\":";
  append_array(out, explanation.contributions, [&](const Contribution& one) {
    out += "{\"user\":";
    append_user(one.user);
    append_member("value", one.value);
    append(out, ",\"rewards\":{}", one.rewards);
    append_member("bound", one.bound);
    out += '}';
  });
  append_member("rest", explanation.rest);
  append(out, ",\"rest_count\":{}", explanation.rest_count);
  append_member("unexplained", explanation.unexplained);
  out += ",\"places\":";
  append_array(out, places_of(explanation), [&](const ExplanationPlace& place) {
    out += "{\"user\":";
    append_user(place.user);
    append_member("x", place.x);
    append_member("y", place.y);
    append_member("value", place.value);
    append(out, ",\"contributes\":{}}}", place.contributes);
  });
  out += ",\"edges\":";
  append_array(out, explanation.edges, [&](const Edge& edge) {
    out += '[';
    append_user(edge.a);
    out += ',';
    append_user(edge.b);
    out += ',';
    append_number(out, edge.weight);
    out += ']';
  });
  append(out, ",\"engine\":\"{}\"}}", name_of(explanation.engine));
}

void append(std::string& out, std::span<const Record> records) {
  append_array(out, records, [&](const Record& record) { append_record(out, record); });
}

void append_members(std::string& out, const Status& status) {
  const auto append_text = [&](std::string_view name, std::string_view text) {
    append(out, "\"{}\":", name);
    append_string(out, text);
    out += ',';
  };
  append_text("policy", status.policy);
  append_text("exploration", status.exploration);
  append_text("engines", status.engines);
  append_text("trouble", status.trouble);
  append(
      out,
      "\"ready\":{},\"dimension\":{},\"users\":{},\"edges\":{},\"items\":{},\"rewards\":{},\"end\":{},\"durable\":{},"
      "\"learned\":{},\"backlog\":{},\"backlog_limit\":{},\"snapshot\":{},\"bytes\":{}",
      status.ready, status.dimension, status.users, status.edges, status.items, status.rewards, status.end,
      status.durable, status.learned, status.backlog, status.backlog_limit, status.snapshot, status.bytes);
  append(out,
         ",\"decisions\":{},\"rewards_accepted\":{},\"rewards_repeated\":{},\"rewards_expired\":{},\"explored\":{},"
         "\"commits\":{},\"snapshots\":{},\"reward_sum\":",
         status.decisions, status.rewards_accepted, status.rewards_repeated, status.rewards_expired, status.explored,
         status.commits, status.snapshots);
  append_number(out, status.reward_sum);
  out += ",\"squared_reward_sum\":";
  append_number(out, status.squared_reward_sum);
}

void append(std::string& out, const Problem& problem, std::string_view instance) {
  out += '{';
  append_problem_members(out, problem);
  out += ",\"instance\":";
  append_string(out, instance);
  out += '}';
}

}  // namespace goblin::serve::answers
