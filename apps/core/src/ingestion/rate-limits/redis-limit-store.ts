import { createClient, defineScript, type CommandParser } from '@redis/client';
import type { OnModuleInit } from '@nestjs/common';
import { readConfig, serviceConfig, type TlsContents } from '@customer-platform/config';
import { type Installation, type MarkedPlace, OtherInstallation } from '@customer-platform/database';
import { log } from '@customer-platform/http';
import { INSTANCE_SECONDS, type LimitAnswer, type LimitRequest, type LimitStore } from './limit-store.js';

const CONNECT_MS = 3_000;
/** Something is said every five seconds: a connection on which nothing comes for longer hangs, and is given up. */
const SILENT_MS = 10_000;
const RECONNECT_MS = 1_000;

const PREFIX = 'core:rate_limits:';
const INSTANCES = `${PREFIX}instances`;
const MARK = `${PREFIX}installation`;
/** How long a start waits to see whose Redis it is. */
const START_MS = 3_000;

/** By the server's clock. A bucket expires once it is full again, at the earliest after a minute. */
const EXCHANGE = `
local time = redis.call('TIME')
local now = time[1] + time[2] / 1000000
local rate, capacity, owed, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local most_debt = tonumber(ARGV[5])
local known = redis.call('HMGET', KEYS[1], 'balance', 'filled_at')
local tokens = capacity
if known[1] then
  tokens = math.min(capacity, tonumber(known[1]) + math.max(0, now - tonumber(known[2])) * rate)
end
tokens = math.min(capacity, math.max(-capacity * most_debt, tokens - owed))
local granted = math.max(0, math.floor(math.min(wanted, tokens)))
local balance = tokens - granted
redis.call('HSET', KEYS[1], 'balance', string.format('%.17g', balance), 'filled_at', string.format('%.6f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(math.max(60, (capacity - balance) / rate) * 1000))
return { string.format('%.17g', granted), string.format('%.17g', balance) }`;

const BEAT = `
local now = tonumber(redis.call('TIME')[1])
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
redis.call('EXPIRE', KEYS[1], tonumber(ARGV[2]) * 4)
return redis.call('ZCARD', KEYS[1])`;

const SCRIPTS = {
  exchange: defineScript({
    SCRIPT: EXCHANGE,
    NUMBER_OF_KEYS: 1,
    parseCommand(parser: CommandParser, request: LimitRequest, mostDebt: number) {
      const { id, perSecond, capacity, owed, wanted } = request;
      parser.pushKey(`${PREFIX}${id}`);
      parser.push(...[perSecond, capacity, owed, wanted, mostDebt].map(String));
    },
    transformReply: ([granted, balance]: [string, string]): LimitAnswer => ({
      granted: Number(granted),
      balance: Number(balance),
    }),
  }),
  beat: defineScript({
    SCRIPT: BEAT,
    NUMBER_OF_KEYS: 1,
    parseCommand(parser: CommandParser, instanceId: string) {
      parser.pushKey(INSTANCES);
      parser.push(instanceId, String(INSTANCE_SECONDS));
    },
    transformReply: (count: number): number => count,
  }),
};

/**
 * Limits shared in Redis or Valkey: a script for each bucket, all of an exchange in one write. What it loses when it is
 * restarted is worth nothing: every bucket is full then.
 */
export class RedisLimitStore implements LimitStore, MarkedPlace, OnModuleInit {
  readonly name = 'Redis';
  readonly variables = 'REDIS_URL';
  /** It is empty after a restart. */
  readonly lasting = false;
  private readonly client;
  /** Whether what is connected to is known to be ours. */
  private isOwn = false;

  /** Connects at the first sign of life, and again whenever the connection breaks; commands fail at once meanwhile. */
  constructor(
    url: string,
    private readonly installation: Pick<Installation, 'claim'>,
    tls: TlsContents = {},
  ) {
    this.client = createClient({
      url,
      scripts: SCRIPTS,
      disableOfflineQueue: true,
      disableClientInfo: true,
      maintNotifications: 'disabled',
      socket: {
        connectTimeout: CONNECT_MS,
        socketTimeout: SILENT_MS,
        reconnectStrategy: () => RECONNECT_MS,
        ...(url.startsWith('rediss:') ? { tls: true, ...tls } : {}),
      },
    });
    // Each failed exchange is told of where it fails; the client insists on a listener.
    this.client.on('error', (error: unknown) => {
      this.isOwn = false;
      log.debug({ err: error }, 'The connection to Redis broke');
    });
  }

  /**
   * Refuses the start with another's Redis. One that does not answer does not: it is asked as soon as it does, and not
   * used before.
   * @throws OtherInstallation
   */
  async onModuleInit(): Promise<void> {
    if (readConfig(serviceConfig.pick({ PROCESS_ROLE: true })).PROCESS_ROLE === 'worker') return;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, START_MS);
    try {
      await Promise.race([this.connected(), late]);
    } catch (error) {
      if (error instanceof OtherInstallation) throw error;
      log.warn({ err: error }, 'Redis does not answer yet; whose it is is asked when it does');
    } finally {
      clearTimeout(timer);
    }
  }

  async exchange(requests: readonly LimitRequest[], mostDebt: number): Promise<LimitAnswer[]> {
    await this.connected();
    return Promise.all(requests.map((request) => this.client.exchange(request, mostDebt)));
  }

  async beat(instanceId: string): Promise<number> {
    await this.connected();
    return this.client.beat(instanceId);
  }

  async leave(instanceId: string): Promise<void> {
    await this.client.zRem(INSTANCES, instanceId);
  }

  async marks(): Promise<string[]> {
    const mark = await this.client.get(MARK);
    return mark === null ? [] : [mark];
  }

  async mark(id: string): Promise<void> {
    await this.client.set(MARK, id, { condition: 'NX' });
  }

  async replace(id: string): Promise<void> {
    if (!this.client.isOpen) await this.client.connect();
    await this.client.set(MARK, id);
  }

  private async connected(): Promise<void> {
    if (!this.client.isOpen) await this.client.connect();
    if (this.isOwn) return;
    await this.installation.claim(this);
    this.isOwn = true;
  }

  /** Buckets expire by themselves. */
  async sweep(): Promise<void> {
    await Promise.resolve();
  }

  async close(): Promise<void> {
    if (this.client.isOpen) this.client.destroy();
    await Promise.resolve();
  }
}
