#pragma once

#include "goblin/data/own_files.hpp"

#include <memory>

namespace goblin::test {

/// Three items with contexts of two numbers: tea, soup, and one named 7.
inline std::shared_ptr<const data::Items> tea_and_soup() {
  auto items = std::make_shared<data::Items>();
  items->file = "items.tsv";
  for (const char* name : {"tea", "soup", "7"}) items->names.insert(name);
  items->dimension = 2;
  items->numbers = {1.0, 0.0, 0.0, 2.0, -1.0, 0.5};
  return items;
}

}  // namespace goblin::test
