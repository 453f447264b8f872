import { PassThrough } from 'node:stream';
import {
  BadRequestException,
  ForbiddenException,
  HttpException,
  NotFoundException,
  PayloadTooLargeException,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import { Problem } from '@customer-platform/problem-json';
import { problemOf } from '../../test/things.fixture.js';
import { answerClientError, rawProblem, toProblem } from '../index.js';

describe('toProblem', () => {
  it.each([
    [new BadRequestException('SQL'), 'malformed_request'],
    [new UnauthorizedException('SQL'), 'missing_credentials'],
    [new ForbiddenException('SQL'), 'permission_denied'],
    [new NotFoundException('Cannot GET /srv/app'), 'route_not_found'],
    [new PayloadTooLargeException('SQL'), 'body_too_large'],
    [new ServiceUnavailableException('SQL'), 'dependency_unavailable'],
    [new HttpException('SQL', 418), 'malformed_request'],
    [new HttpException('SQL', 502), 'internal_error'],
    [Object.assign(new Error('/srv/app'), { status: 415 }), 'unsupported_media_type'],
    [Object.assign(new Error('/srv/app'), { status: 502 }), 'internal_error'],
    [new Error('relation "contacts" does not exist'), 'internal_error'],
    ['a text that was thrown', 'internal_error'],
    [undefined, 'internal_error'],
  ])('%s is %s, with nothing of its text', (error, code) => {
    const problem = toProblem(error);
    expect(problem.code).toBe(code);
    expect(problem.message).not.toMatch(/SQL|srv|contacts|thrown/);
    if (error !== undefined) expect(problem.cause).toBe(error);
  });

  it('leaves a problem as it is', () => {
    const problem = new Problem('limit_reached');
    expect(toProblem(problem)).toBe(problem);
  });
});

describe('answerClientError', () => {
  const answerTo = async (code: string, rawPacket?: string): Promise<string> => {
    const socket = new PassThrough();
    const packet = rawPacket === undefined ? {} : { rawPacket: Buffer.from(rawPacket) };
    answerClientError(Object.assign(new Error('parser'), { code, ...packet }), socket);
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    return text;
  };

  it.each([
    ['ERR_HTTP_REQUEST_TIMEOUT', undefined, 408, 'request_timeout'],
    ['HPE_HEADER_OVERFLOW', 'GET / HTTP/1.1\r\nX: xxxx', 431, 'headers_too_large'],
    ['HPE_HEADER_OVERFLOW', `GET /${'x'.repeat(9_000)} HTTP/1.1\r\n`, 414, 'uri_too_long'],
    ['HPE_HEADER_OVERFLOW', 'x'.repeat(9_000), 431, 'headers_too_large'],
    ['HPE_CHUNK_EXTENSIONS_OVERFLOW', undefined, 413, 'body_too_large'],
    ['HPE_INVALID_TOKEN', undefined, 400, 'malformed_request'],
  ])('%s after %j is %i', async (parserCode, packet, status, code) => {
    const answer = await answerTo(parserCode, packet);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Z]`));
    expect(answer).toContain('\r\nConnection: close\r\n');
    expect(problemOf(answer)).toMatchObject({ status, code });
  });

  it('says nothing to a caller that is gone, nor behind an answer that has begun', () => {
    const gone = new PassThrough();
    answerClientError(Object.assign(new Error('reset'), { code: 'ECONNRESET' }), gone);
    const answered = Object.assign(new PassThrough(), { _httpMessage: { headersSent: true } });
    answerClientError(Object.assign(new Error('parser'), { code: 'HPE_INVALID_TOKEN' }), answered);
    for (const socket of [gone, answered]) {
      expect(socket.destroyed).toBe(true);
      expect(socket.read()).toBeNull();
    }
  });
});

describe('rawProblem', () => {
  it('is a whole answer with the headers of its code', () => {
    const text = rawProblem(new Problem('shutting_down'), '7b9f0c1e-7f0a-4d4e-8a53-000000000001');
    expect(text).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/);
    expect(text).toContain('\r\nRetry-After: 1\r\n');
    expect(problemOf(text)).toMatchObject({ correlation_id: '7b9f0c1e-7f0a-4d4e-8a53-000000000001' });
  });
});
