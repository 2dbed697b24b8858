/// The kinds of things that have to happen among many jobs.
enum Coverage: String, CaseIterable {
    case answeredAtOnce, answeredLater, quickRecovered, fallback, placeholder, stale, failedWithAnswer
    case failedWithoutAnswer, cancelledOutcome, preparationFailed, outcomeAtDeadline, retried, refreshed
    case failedOver, coolingPassed, constrained, nothingKept, redirected, redirectedOften, withoutTask
    case keptConnectionGone, responded, stopped, noRule, ruleSpent, jobSpent, deadlineSpent, noTimeLeft
    case matchedExhausted, neverSent, unknown, refused, answered, heldBackUnknown, heldBackAnswered
    case heldBackBody, heldBackStandIn, repeatedIdempotent, repeatedKeyed, repeatedAny, kindConnection
    case kindTimeout, kindDNS, kindTLS, kindProtocol, kindStatus, kindAPI, kindInvalid, kindDecoding
    case kindCredentials, kindSoft, kindNamed, kindTooLarge, kindStrangeStatus, cancelledBefore
    case cancelledToken, cancelledSend, cancelledCollect, cancelledWait, cancelledTooLate
    case retryAfterSeconds, retryAfterHuge, retryAfterGarbage, retryAfterTwice, retryAfterContradicts
    case retryAfterFutureDate, retryAfterPastDate, retryAfterHonoured, retryAfterClamped
    case retryAfterIgnored, waitExponential, waitConstant, waitList, waitZero, tokenAsked, tokenGiven
    case tokenSlow, tokenDown, tokenGarbage, tokenBroken, tokenTimedOut, tokenRotated, tokenEarly
    case tokenExpired, tokenRefused, tokenShared, tokenHeld, tokenRemembered, tokenLate, tokenMissing
    case tokenFixed, reloaded, streamPassed, streamCollected, streamBroke, streamLate, streamSlow
    case streamLeft, uploadRead, refusedCancelled, waitedForPlace, manyInFlight, programAsked
    case programRetried, programStopped, programChanged, programHung, programDeaf, programUnprepared
    case programClassified, programRecovered, programRejected, programRenamed, programKeyed
    case programAnswered, programFailed, breached, durableDelivered, durableLater, durableDead
    case durableExpired, durableCredentials, durableRefused, durableStopped, durableUnknown
    case durableNotRepeatable
}
