import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { call, startThings } from '../../test/things.fixture.js';
import { currentCorrelationId, log, runWithCorrelation, traceHeaders } from '../index.js';
import { nestLogger } from './log.js';
import { startTracing, stopTracing } from './tracing.js';

/** Lines that the log would write, by its own settings. */
function logged(write: () => void): Record<string, unknown>[] {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const stream = (log as unknown as Record<symbol, unknown>)[pino.symbols.streamSym];
  const { level } = log;
  Object.assign(log, { level: 'trace', [pino.symbols.streamSym]: sink });
  write();
  Object.assign(log, { level, [pino.symbols.streamSym]: stream });
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('the log', () => {
  it('carries correlation id and organization of what runs', () => {
    const lines = logged(() => {
      log.info('outside');
      runWithCorrelation('11111111-1111-4111-8111-111111111111', () => log.info('inside'), 'org');
    });
    expect(lines[0]).not.toHaveProperty('correlation_id');
    expect(lines[1]).toMatchObject({
      level: 'info',
      msg: 'inside',
      correlation_id: '11111111-1111-4111-8111-111111111111',
      organization_id: 'org',
    });
  });

  it('blanks secrets that somebody logs by mistake', () => {
    const text = JSON.stringify(
      logged(() =>
        log.info({
          authorization: 'Bearer cpk_live_x',
          request: { password: 'hunter2', api_key: 'cpk_live_y' },
        }),
      ),
    );
    expect(text).not.toMatch(/cpk_live|hunter2/);
    expect(text).toContain('[removed]');
  });

  it('takes Nest’s messages', () => {
    const [line] = logged(() => nestLogger.error('broken', 'stack', 'Router'));
    expect(line).toMatchObject({ level: 'error', msg: 'broken', source: 'Router' });
  });
});

describe('runWithCorrelation', () => {
  it('holds over everything awaited, and no longer', async () => {
    const inside = await runWithCorrelation('a', async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return currentCorrelationId();
    });
    expect([inside, currentCorrelationId()]).toEqual(['a', undefined]);
  });
});

describe('tracing', () => {
  it('sends a span per request to the collector, in the caller’s trace', async () => {
    const received: string[] = [];
    const collector = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')));
      request.on('end', () => {
        received.push(`${request.url ?? ''} ${body}`);
        response.end('{}');
      });
    }).listen(0);
    await once(collector, 'listening');
    const { port } = collector.address() as AddressInfo;
    await startTracing('crm', `http://127.0.0.1:${port}`);
    const app = await startThings();
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    await call(app.url, '/v1/crm/things/report', {
      headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
    });
    await app.close();
    await stopTracing();
    collector.close();
    expect(received.join()).toContain('/v1/traces');
    expect(received.join()).toContain('GET /v1/crm/things/report');
    expect(received.join()).toContain('customer-platform-crm');
    expect(received.join()).toContain(traceId);
  });

  it('without a collector adds nothing', async () => {
    await startTracing('crm', undefined);
    expect(traceHeaders()).toEqual({});
  });
});
