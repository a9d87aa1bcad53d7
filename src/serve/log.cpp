#include "serve/log.hpp"

namespace goblin::serve {

void Store::append(std::span<Record> records) {
  begin();
  try {
    for (Record& record : records) put(record);
  } catch (...) {
    roll_back();
    throw;
  }
  commit();
}

}  // namespace goblin::serve
