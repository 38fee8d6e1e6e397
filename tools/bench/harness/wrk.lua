-- Reads the requests that load.ts wrote, sends them in order and prints one line of JSON.
-- All requests are formatted before the first is sent, so that the load generator needs little processor time.

local requests, at = {}, 0
local threads = {}

-- Read from the thread when it is done; only global variables can be.
others = 0

function setup(thread)
  threads[#threads + 1] = thread
end

function init(args)
  local lines = io.lines(args[1])
  local expected = tonumber(lines())
  -- Only for an expected status: wrk passes every response with its headers to Lua. It counts statuses of 400 and above itself.
  if expected then
    response = function(status)
      if status ~= expected then others = others + 1 end
    end
  end
  local method = lines()
  local headers = {}
  for line in lines do
    if line == '' then break end
    local name, value = line:match('^([^:]+): (.*)$')
    headers[name] = value
  end
  for path in lines do
    local body = lines()
    requests[#requests + 1] = wrk.format(method, path, headers, body ~= '' and body or nil)
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  local broken = errors.connect + errors.read + errors.write + errors.timeout
  local other = 0
  for _, thread in ipairs(threads) do other = other + thread:get('others') end
  local result = '\n{"total": %d, "refused": %d, "other": %d, "broken": %d, "seconds": %f, "p50Ms": %f}\n'
  io.write(result:format(
    summary.requests, errors.status, other, broken, summary.duration / 1e6, latency:percentile(50) / 1000))
end
