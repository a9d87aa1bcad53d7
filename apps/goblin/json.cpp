#include "json.hpp"

namespace goblin::app {

Json json_number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::string json_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string json_text(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace); }

}  // namespace goblin::app
