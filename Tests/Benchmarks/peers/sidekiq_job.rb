# The Sidekiq side of a full life: a job that posts its body to the upstream over a kept connection. A job is taken off
# its list before it is done, as Sidekiq without its paid parts does: what a worker holds when it is killed is lost.

require "net/http"
require "sidekiq"

options = { url: ENV.fetch("BROKER") }
Sidekiq.configure_client { |config| config.redis = options }
Sidekiq.configure_server { |config| config.redis = options }

class Deliver
  include Sidekiq::Worker

  @lock = Mutex.new
  @done = 0
  class << self
    # Says so when all of a run are done: Sidekiq's own counters come every five seconds.
    def finished(total)
      is_last = @lock.synchronize { (@done += 1) == total && (@done = 0) }
      Sidekiq.redis { |redis| redis.lpush("settled", 1) } if is_last
    end
  end

  def perform(body, total)
    connection = Thread.current[:upstream] ||= Net::HTTP.start("127.0.0.1", Integer(ENV.fetch("UPSTREAM")))
    answer = connection.post("/x", body, "Content-Type" => "application/json")
    raise answer.code unless answer.code == "200"

    Deliver.finished(total)
  end
end
