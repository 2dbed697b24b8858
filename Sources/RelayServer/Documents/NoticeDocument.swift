import RelayBase
import RelayHTTP
import RelayInterface
import RelayJSON
package import RelayJobs
package import RelayRoute

/// The body of a notice: the document of a job that is over, as `GET /v1/jobs/ID` has it.
package enum NoticeDocument {
    package static func bytes(_ whole: WholeJob, _ contents: [NoticeSettings.Content]) -> [UInt8] {
        // With the document it is made.
        var whole = whole
        whole.job.owesNotice = false
        var view = Job(whole.job)
        view.take(whole)
        let path = Job.Links.path(of: whole.job.record.id)
        if contents.contains(.request), let request = whole.body {
            view.request.writeBody = { JobAnswer.write(request, href: path + "/request/body", into: &$0) }
        }
        var json = JSONObjectWriter()
        json.members(of: view)
        if contents.contains(.response), let answer = whole.answer {
            json.object("response") { writer in
                writer.member("source", answer.source.rawValue)
                writer.member("status", answer.status.rawValue)
                JobAnswer.write(answer.body, href: path + "/response/body", into: &writer)
            }
        }
        return json.bytes
    }
}
