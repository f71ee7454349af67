import { type Problem, type ProblemCode, problem } from '@headway/contracts';
import type { FastifyError, FastifyReply } from 'fastify';

export const PROBLEM_TYPE = 'application/problem+json';

/** Answers with problem details (RFC 9457). `headers` are added, such as `retry-after`. */
export function sendProblem(reply: FastifyReply, found: Problem, headers: Readonly<Record<string, string>> = {}) {
  // As bytes, so that no charset is added to a media type that has none.
  return reply
    .code(found.status)
    .headers(headers)
    .type(PROBLEM_TYPE)
    .send(Buffer.from(JSON.stringify(found)));
}

/** What the framework refuses a request for, in the words of the one table of problems. */
const frameworkProblems: Readonly<Record<string, ProblemCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_INVALID_JSON_BODY: 'malformed_json',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_request',
  FST_ERR_VALIDATION: 'invalid_parameter',
  FST_ERR_BAD_URL: 'malformed_request',
  FST_ERR_MAX_PARAM_LENGTH: 'malformed_request',
};

/** The problem for an error thrown while a request was handled; `internal` says nothing of what broke. */
export function problemOf(error: Partial<FastifyError> & { message?: string }, bodyLimit: number): Problem {
  const code =
    frameworkProblems[error.code ?? ''] ??
    (error.name === 'SyntaxError' && error.statusCode === 400 ? 'malformed_json' : undefined);
  if (code === 'body_too_large')
    return problem(code, `Send at most ${bodyLimit} bytes in one request; split what is larger.`);
  if (code === 'unsupported_media_type')
    return problem(code, 'Set the Content-Type header to one that this address accepts.');
  if (code === 'malformed_json')
    return problem(code, 'The body could not be read as JSON. Send one valid JSON value in UTF-8.');
  if (code === 'malformed_request') return problem(code, 'The address or a header of the request is not valid HTTP.');
  if (code === 'invalid_parameter') return problem(code, error.message ?? 'A parameter is not allowed.');
  if (error.statusCode === 400 || error.statusCode === 414)
    return problem('malformed_request', 'The request cannot be understood.');
  return problem('internal', 'The server broke while it handled this request; its log has the reason by request id.');
}

/** Raw bytes for a connection whose request never became one: broken HTTP, too slow, headers too large. */
export function rawAnswer(errorCode: string | undefined): string {
  const found =
    errorCode === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? problem('request_timeout', 'The request did not arrive in time. Send it again, faster or in smaller parts.')
      : problem(
          'malformed_request',
          'The bytes that were sent are not a valid HTTP request, or its headers are too large.',
        );
  const body = JSON.stringify(found);
  const reason = found.status === 408 ? 'Request Timeout' : 'Bad Request';
  return [
    `HTTP/1.1 ${found.status} ${reason}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
