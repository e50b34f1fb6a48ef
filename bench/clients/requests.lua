-- The script of wrk: sends the lines of a file in order, JSON as the body of a POST and else as the query of a GET, and
-- prints what it counted as one JSON line.
-- wrk -s requests.lua ADDRESS -- FILE FIRST PATH [IDEMPOTENCY_PREFIX]
-- In one thread (-t 1). With a prefix each request has an Idempotency-Key of its own that begins with it.
function init(args)
  bodies = {}
  for line in io.lines(args[1]) do
    bodies[#bodies + 1] = line
  end
  at = tonumber(args[2])
  path = args[3]
  prefix = args[4]
  if bodies[1] == nil then
    error("no bodies in " .. args[1])
  end
end

function request()
  at = at + 1
  if prefix then
    wrk.headers["Idempotency-Key"] = prefix .. "-" .. at
  end
  local line = bodies[(at - 1) % #bodies + 1]
  if line:sub(1, 1) == "{" then
    return wrk.format("POST", path, nil, line .. "\n")
  end
  return wrk.format("GET", path .. "?" .. line)
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.stdout:write(string.format(
    '{"requests":%d,"microseconds":%d,"p50":%d,"p90":%d,"p99":%d,"max":%d,"status_errors":%d,"socket_errors":%d,"bytes":%d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(90), latency:percentile(99),
    latency.max, errors.status, errors.connect + errors.read + errors.write + errors.timeout, summary.bytes
  ))
end
