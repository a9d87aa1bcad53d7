-- What wrk sends: wrk ... -s load.lua URL -- KIND KEY USERS CANDIDATES DIMENSION [FIRST LAST]
-- KIND: select, item, reward. Rewards are for the decisions FIRST to LAST, each of them once.
local threads = 0
local requests = {}
local next_one = 1

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

local function head(key, path)
  return "POST " .. path .. " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " .. key ..
    "\r\nContent-Type: application/json\r\nContent-Length: "
end

local function contexts(candidates, dimension)
  local rows = {}
  for k = 1, candidates do
    local row = {}
    for j = 1, dimension do row[j] = string.format("%.6f", math.random() * 2 - 1) end
    rows[k] = "[" .. table.concat(row, ",") .. "]"
  end
  return '"contexts":[' .. table.concat(rows, ",") .. "]"
end

local function items(candidates)
  local names = {}
  for k = 1, candidates do names[k] = string.format('"item%d"', math.random(0, 999)) end
  return '"items":[' .. table.concat(names, ",") .. "]"
end

function init(arguments)
  kind, key = arguments[1], arguments[2]
  local users, candidates, dimension = tonumber(arguments[3]), tonumber(arguments[4]), tonumber(arguments[5])
  math.randomseed(number + 1)
  if kind == "reward" then
    -- Two threads of wrk share the decisions: one has the odd ones.
    position, last = tonumber(arguments[6]) + number, tonumber(arguments[7])
    prefix = head(key, "/v1/reward")
    return
  end
  for k = 1, 200 do
    local body = string.format('{"user":"%d",%s}', math.random(0, users - 1),
      kind == "item" and items(candidates) or contexts(candidates, dimension))
    requests[k] = head(key, "/v1/select") .. #body .. "\r\n\r\n" .. body
  end
end

function request()
  if kind == "reward" then
    local body = string.format('{"event":"g-%d","reward":%d}', position, position % 2)
    position = position + 2
    if position > last then position = last end
    return prefix .. #body .. "\r\n\r\n" .. body
  end
  next_one = next_one % #requests + 1
  return requests[next_one]
end


function done(summary, latency)
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"errors":%d,"p50":%.1f,"p99":%.1f}\n', summary.requests, summary.duration,
    summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
