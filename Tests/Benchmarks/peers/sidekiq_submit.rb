# Hands COUNT jobs of BYTES to Sidekiq, waits until all are done, prints the seconds of both.

require_relative "sidekiq_job"

count = Integer(ARGV[0])
body = "x" * Integer(ARGV[1])
start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
count.times { Deliver.perform_async(body, count) }
handed_over = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
Sidekiq.redis { |redis| redis.brpop("settled", timeout: 100) } or abort("not all were done after 100 s")
puts "#{handed_over} #{Process.clock_gettime(Process::CLOCK_MONOTONIC) - start}"
