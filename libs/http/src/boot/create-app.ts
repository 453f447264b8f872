import type { IncomingMessage, ServerResponse } from 'node:http';
import type { INestApplication, Type } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import type { NextFunction, Request, Response } from 'express';
import {
  gatewayAddressesConfig,
  readConfig,
  secretsConfig,
  serviceConfig,
  type AddressList,
  type ModulesTls,
} from '@customer-platform/config';
import { pathOf, stateOf } from '../context/request-state.js';
import { REFUSAL_RECORDER, type RefusalRecorder } from '../context/refusals.js';
import { ApplicationPassport } from '../credentials/application-passport.js';
import { EndpointGuard } from '../endpoints/endpoint.guard.js';
import { credentialOf } from '../endpoints/route-declaration.js';
import { EndpointInterceptor } from '../endpoints/endpoint.interceptor.js';
import { IdempotentOperations } from '../idempotency/idempotent-operations.js';
import { IDEMPOTENCY_STORE, type IdempotencyStore } from '../idempotency/idempotency-store.js';
import { Cursors } from '../lists/cursors.js';
import { log, nestLogger } from '../observe/log.js';
import { collectProcessMetrics } from '../observe/metrics.js';
import { ProblemFilter } from '../problems/problem.filter.js';
import { DRAINABLE, type Drainable } from './drainable.js';
import { EARLY_ROUTE, type EarlyRoute } from './early-route.js';
import { FastExpressAdapter } from './fast-express.adapter.js';
import { Listener } from './listener.js';
import { modulesTls } from './modules-tls.js';
import { Operations, readOpenApi } from './operations.js';
import { BootError, RouteTable, routesOf, type ModuleName, type Route } from './route-table.js';
import { answerUnmatched } from './unmatched.js';

/** How long requests in flight may take to end when the app stops, in milliseconds. */
const DRAIN_MS = 5_000;

/** What an app is started with. */
export interface BootOptions {
  readonly module: ModuleName;
  /** The app's root module. */
  readonly root: Type;
  /**
   * Sees every request of the public listener before anything else does, correlation included; true if it answers it.
   * For the ingestion route alone, which cannot afford Express. It matches literal paths.
   */
  readonly beforeExpress?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Runs when the app is initialized and does not listen yet, e.g. to start the Kafka transport. */
  readonly connect?: (app: INestApplication) => Promise<void>;
  /** The committed `openapi.json`, served as it is. */
  readonly openApi?: URL | string;
  /** Default `process.env`. */
  readonly env?: Record<string, string | undefined>;
}

/** A started app. */
export interface RunningApp {
  readonly app: INestApplication;
  /** Base address of the public listener. */
  readonly url: string;
  /** Base address of the listener between modules. */
  readonly internalUrl: string;
  readonly routes: readonly Route[];
  /** Takes the app out of rotation: `/health/ready` answers 503, kept connections end, consumers leave their groups. */
  drain(): void;
  /** Ends requests in flight, then the app; within about 8 s. */
  close(): Promise<void>;
}

const bootConfig = serviceConfig.extend({
  CURSOR_SECRET: secretsConfig.shape.CURSOR_SECRET,
  ...gatewayAddressesConfig.shape,
});

/**
 * Starts an app on its two listeners.
 * @throws ConfigError on a bad environment, {@link BootError} on a route without exactly one authorization.
 */
export async function createApp(options: BootOptions): Promise<RunningApp> {
  const config = readConfig(bootConfig, options.env);
  log.level = config.LOG_LEVEL;
  collectProcessMetrics();
  const operations = new Operations(await readOpenApi(options.openApi));
  const adapter = new FastExpressAdapter();
  let early: EarlyRoute | undefined;
  const first: EarlyRoute['take'] = (request, response) =>
    options.beforeExpress?.(request, response) === true || early?.take(request, response) === true;
  const listeners = listenersOf(first, adapter, operations, {
    cursors: new Cursors(config.CURSOR_SECRET),
    gatewayAddresses: config.GATEWAY_ADDRESSES,
    tls: modulesTls(options.env),
  });
  adapter.useServer(listeners.public.server);
  const app = await NestFactory.create(options.root, adapter, {
    bodyParser: false,
    abortOnError: false,
    // `:id` never takes the path of `report`, whatever the order they are declared in.
    routeResolutionStrategy: 'specificity',
    logger: nestLogger,
  });
  try {
    const routes = await initialize(app, adapter, options, config.CURSOR_SECRET);
    early = optional<EarlyRoute>(app, EARLY_ROUTE);
    await options.connect?.(app);
    const url = await listeners.public.listen(config.PORT, config.HOST);
    const internalUrl = await listeners.internal.listen(config.INTERNAL_PORT, config.HOST);
    operations.accepting = true;
    return { app, url, internalUrl, routes, ...stopping(app, operations, listeners) };
  } catch (error) {
    await app.close();
    throw error;
  }
}

interface Listeners {
  readonly public: Listener;
  readonly internal: Listener;
}

function listenersOf(
  first: EarlyRoute['take'],
  adapter: FastExpressAdapter,
  operations: Operations,
  common: { cursors: Cursors; gatewayAddresses: AddressList; tls: ModulesTls | undefined },
): Listeners {
  const express = adapter.getInstance<(request: IncomingMessage, response: ServerResponse) => void>();
  const shared = { constructors: adapter.constructors, ...common };
  return {
    public: new Listener({
      ...shared,
      name: 'public',
      first,
      handler: (request, response) => {
        if (!operations.handle(request, response)) express(request, response);
      },
    }),
    internal: new Listener({ ...shared, name: 'internal', handler: express }),
  };
}

async function initialize(
  app: INestApplication,
  adapter: FastExpressAdapter,
  { module }: BootOptions,
  secret: string,
): Promise<Route[]> {
  const routes = routesOf(app, module);
  const table = new RouteTable(routes);
  adapter.onUnmatched = (request, response) => answerUnmatched(table, request, response);
  adapter.use((request: Request, response: Response, next: NextFunction) => {
    const { listener } = stateOf(request);
    if (table.isShadowed(pathOf(request), request.method, listener))
      answerUnmatched(table, request, response);
    else next();
  });
  const store = optional<IdempotencyStore>(app, IDEMPOTENCY_STORE);
  const refusals = optional<RefusalRecorder>(app, REFUSAL_RECORDER);
  if (!refusals && routes.some(({ auditRefusals }) => auditRefusals)) {
    throw new BootError(
      `The app ${module} does not start: it has routes whose refusals are recorded and no recorder.`,
    );
  }
  app.useGlobalGuards(new EndpointGuard(passportOf(app, routes, module), refusals));
  app.useGlobalInterceptors(new EndpointInterceptor(new IdempotentOperations(store, secret)));
  app.useGlobalFilters(new ProblemFilter());
  await app.init();
  return routes;
}

/** The application's strategies: one for each kind of credential that a route asks for. */
function passportOf(
  app: INestApplication,
  routes: readonly Route[],
  module: ModuleName,
): ApplicationPassport {
  const passport = optional<ApplicationPassport>(app, ApplicationPassport) ?? new ApplicationPassport();
  for (const route of routes) {
    const credential = credentialOf(route);
    if (credential === undefined || passport.has(credential)) continue;
    throw new BootError(
      `The app ${module} does not start: it has routes of the credential ${credential} and no strategy for it.`,
    );
  }
  return passport;
}

/** A provider that an app may do without; asked for before it is fetched, as Nest logs what it does not find. */
function optional<T>(app: INestApplication, token: symbol | Type<T>): T | undefined {
  const modules = [...app.get(ModulesContainer).values()];
  return modules.some(({ providers }) => providers.has(token))
    ? app.get<T>(token, { strict: false })
    : undefined;
}

function stopping(app: INestApplication, operations: Operations, listeners: Listeners) {
  const drainable = optional<Drainable>(app, DRAINABLE);
  let draining: Promise<void> | undefined;
  const drain = () => {
    operations.accepting = false;
    listeners.public.drain();
    listeners.internal.drain();
    draining ??= drainable?.drain();
  };
  let closing: Promise<void> | undefined;
  const close = async () => {
    drain();
    await listeners.public.close(DRAIN_MS);
    // Last, because other modules still need answers for the requests they are ending themselves.
    await listeners.internal.close(1_000);
    await draining;
    await app.close();
  };
  return { drain, close: () => (closing ??= close()) };
}
