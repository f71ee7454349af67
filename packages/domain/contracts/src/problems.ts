/**
 * The one table of coded errors. `status` is the HTTP status, `title` is the same for every occurrence; the `detail`
 * of an occurrence says what was found and what to change.
 */
export const problems = {
  malformed_json: { status: 400, title: 'The body is not valid JSON' },
  invalid_event: { status: 400, title: 'The event does not have the shape of its type' },
  unknown_type: { status: 400, title: 'No such event type' },
  reserved_type: { status: 403, title: 'Clients may not report this event type' },
  missing_subject: { status: 400, title: 'The event does not name its work' },
  invalid_parameter: { status: 400, title: 'A parameter has a value that is not allowed' },
  malformed_request: { status: 400, title: 'The request is not valid HTTP' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  unsupported_media_type: { status: 415, title: 'The content type is none of the accepted ones' },
  body_too_large: { status: 413, title: 'The body is larger than the limit' },
  event_too_large: { status: 413, title: 'The event is larger than the limit' },
  batch_too_long: { status: 413, title: 'The batch has more events than the limit' },
  nothing_accepted: { status: 422, title: 'None of the events was taken' },
  too_deep: { status: 400, title: 'The event is nested deeper than the limit' },
  identity_conflict: { status: 409, title: 'This source and id were already used for other content' },
  invalid_rules: { status: 400, title: 'The rules for reading output cannot be used' },
  unauthorised: { status: 401, title: 'A token is needed' },
  forbidden: { status: 403, title: 'This token may not do that' },
  host_not_allowed: { status: 421, title: 'This host name is not one the server answers to' },
  origin_not_allowed: { status: 403, title: 'Pages of this origin may not call the API' },
  not_found: { status: 404, title: 'There is nothing under this address' },
  work_not_found: { status: 404, title: 'No evidence of this work has been seen' },
  signal_not_found: { status: 404, title: 'There is no such signal' },
  position_lost: { status: 410, title: 'The position belongs to a log that is gone' },
  not_yet: { status: 504, title: 'The view did not reach the position in time' },
  too_busy: { status: 429, title: 'Too much is under way at once' },
  log_unavailable: { status: 503, title: 'The log cannot take events at the moment' },
  service_unavailable: { status: 503, title: 'The service for this address is not running at the moment' },
  service_broke_off: { status: 502, title: 'The service for this address did not answer' },
  store_unavailable: { status: 503, title: 'The store cannot be reached at the moment' },
  internal: { status: 500, title: 'Something broke inside' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

/** RFC 9457, with a stable `code`. */
export interface Problem {
  readonly type: string;
  readonly status: number;
  readonly title: string;
  readonly code: ProblemCode;
  readonly detail: string;
  /** The member of the input that is meant, as a JSON pointer. */
  readonly pointer?: string;
}

export function problem(code: ProblemCode, detail: string, pointer?: string): Problem {
  const { status, title } = problems[code];
  return {
    type: `urn:headway:problem:${code}`,
    status,
    title,
    code,
    detail,
    ...(pointer === undefined ? {} : { pointer }),
  };
}
