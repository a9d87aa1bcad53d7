-- What wrk sends: wrk ... -s load.lua URL -- KIND KEY USERS CANDIDATES DIMENSION THREADS [REWARDS ...]
-- KIND: select, item, reward. USERS: their names, with commas between them. THREADS: what -t says. REWARDS: g-:1:900 are
-- the decisions g-1 to g-900, g-0::1:900 those of partition 0; each gets one.
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
  local candidates, dimension = tonumber(arguments[4]), tonumber(arguments[5])
  local all = tonumber(arguments[6])
  math.randomseed(number + 1)
  local users = {}
  for name in string.gmatch(arguments[3], "[^,]+") do users[#users + 1] = name end
  if kind == "reward" then
    prefix = head(key, "/v1/reward")
    events = {}
    local position = 0
    for k = 7, #arguments do
      local name, first, last = string.match(arguments[k], "^(.*):(%d+):(%d+)$")
      for event = tonumber(first), tonumber(last) do
        if position % all == number then events[#events + 1] = name .. event end
        position = position + 1
      end
    end
    if #arguments > 7 then -- those of all partitions by turns
      for k = #events, 2, -1 do
        local other = math.random(1, k)
        events[k], events[other] = events[other], events[k]
      end
    end
    return
  end
  for k = 1, 200 do
    local body = string.format('{"user":"%s",%s}', users[math.random(1, #users)],
      kind == "item" and items(candidates) or contexts(candidates, dimension))
    requests[k] = head(key, "/v1/select") .. #body .. "\r\n\r\n" .. body
  end
end

function request()
  if kind == "reward" then
    local event = events[next_one]
    if next_one < #events then next_one = next_one + 1 end
    local body = string.format('{"event":"%s","reward":%d}', event, #event % 2)
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
