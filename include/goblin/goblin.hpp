#pragma once

/// Everything: contextual bandits over a social graph.

#include "goblin/bandit/bandit.hpp"
#include "goblin/bandit/confidence.hpp"
#include "goblin/bandit/policy.hpp"
#include "goblin/belief/engine.hpp"
#include "goblin/belief/evidence.hpp"
#include "goblin/cluster/partition.hpp"
#include "goblin/cluster/quality.hpp"
#include "goblin/error.hpp"
#include "goblin/graph/edge_file.hpp"
#include "goblin/graph/generators.hpp"
#include "goblin/graph/graph.hpp"
#include "goblin/graph/label_file.hpp"
#include "goblin/graph/names.hpp"
#include "goblin/random.hpp"
