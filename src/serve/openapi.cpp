#include "serve/openapi.hpp"

#include "serve/embedded_file.hpp"

#include <nlohmann/json.hpp>

namespace goblin::serve {

std::string openapi_document(const RequestLimits& limits) {
  auto document = nlohmann::ordered_json::parse(embedded_file("openapi.json")->bytes);
  auto& schemas = document["components"]["schemas"];
  schemas["Context"]["minItems"] = limits.dimension;
  schemas["Context"]["maxItems"] = limits.dimension;
  for (const char* request : {"SelectRequest", "RankRequest"}) {
    for (const char* field : {"contexts", "items", "allowed"}) {
      schemas[request]["properties"][field]["maxItems"] = limits.most_candidates;
    }
  }
  schemas["RankRequest"]["properties"]["k"]["maximum"] = limits.most_candidates;
  schemas["RewardsRequest"]["maxItems"] = limits.most_rewards;
  return document.dump(1);
}

}  // namespace goblin::serve
