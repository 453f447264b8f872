import {
  type DynamicModule,
  Global,
  Module,
  type OnModuleDestroy,
  type OnModuleInit,
  type Provider,
  type Type,
} from '@nestjs/common';
import {
  ConfigError,
  peersConfig,
  readConfig,
  secretsConfig,
  serviceConfig,
} from '@customer-platform/config';
import {
  ApplicationPassport,
  modulesTls,
  registerDependency,
  registerReadiness,
} from '@customer-platform/http';
import { AccessTokens } from './access-tokens.js';
import { ApiCredentialStrategy } from './api-credential.strategy.js';
import { AuthorizationSource } from './authorization-source.js';
import { ChangeFeed } from './change-feed.js';
import { CredentialCache } from './credential-cache.js';
import { CredentialResolver } from './credential-resolver.js';
import { HttpAuthorizationSource } from './http-authorization-source.js';
import { InternalClient, internalUrlVariable, type ModuleName } from './internal-client.js';
import { KeyUsage } from './key-usage.js';
import { monotonic } from './monotonic.js';
import { ServiceTokenStrategy } from './service-token.strategy.js';
import { ServiceTokens } from './service-tokens.js';
import { Tenants } from './tenants.js';

/** What a module says of its authorization. */
interface AuthorizationModuleOptions {
  /** The module's own name: what its service tokens say. */
  module: ModuleName;
  /** Modules it calls besides identity: their addresses are demanded at the start rather than at the first call. */
  calls?: readonly ModuleName[];
  /** Where to learn of credentials; identity asks its own database, everybody else identity (the default). */
  source?: Type<AuthorizationSource>;
}

/**
 * Provides, to the whole application: the `ApplicationPassport` with the strategies of API credentials and of service tokens,
 * `CredentialResolver` (with `peek`), `AuthorizationSource`
 * (with `confirm`), `ServiceTokens`, `InternalClient`, `Tenants`. Reads `SERVICE_PRIVATE_KEY`, `SERVICE_PUBLIC_KEYS` and
 * `<MODULE>_INTERNAL_URL`. The process is ready after the first read of the change feed.
 */
@Global()
@Module({})
export class AuthorizationModule implements OnModuleInit, OnModuleDestroy {
  private readonly endings: (() => void)[] = [];

  constructor(
    private readonly feed: ChangeFeed,
    private readonly usage: KeyUsage,
    private readonly client: InternalClient,
  ) {}

  static forRoot(options: AuthorizationModuleOptions): DynamicModule {
    const shared: Provider[] = [
      { provide: ServiceTokens, useFactory: () => serviceTokens(options.module) },
      {
        provide: InternalClient,
        useFactory: (tokens: ServiceTokens) =>
          new InternalClient(tokens, addresses(options), monotonic, modulesTls()),
        inject: [ServiceTokens],
      },
      ApplicationPassport,
      {
        provide: ServiceTokenStrategy,
        useFactory: (passport: ApplicationPassport, tokens: ServiceTokens) =>
          new ServiceTokenStrategy(passport, tokens),
        inject: [ApplicationPassport, ServiceTokens],
      },
      sourceProvider(options),
      {
        provide: Tenants,
        useFactory: (source: AuthorizationSource) => new Tenants(source, { now: () => new Date() }),
        inject: [AuthorizationSource],
      },
      ...resolution(),
    ];
    return {
      module: AuthorizationModule,
      providers: shared,
      exports: [
        ApiCredentialStrategy,
        ApplicationPassport,
        AuthorizationSource,
        CredentialResolver,
        InternalClient,
        ServiceTokens,
        Tenants,
      ],
    };
  }

  onModuleInit(): void {
    this.feed.start();
    this.usage.start();
    this.endings.push(
      registerReadiness({ name: 'authorization', check: () => this.demandFirstRead() }),
      registerDependency({ name: 'authorization', check: () => this.demandUp() }),
    );
  }

  /** Before what the source works with is closed. */
  async onModuleDestroy(): Promise<void> {
    this.endings.forEach((end) => end());
    await this.usage.stop();
    await this.feed.stop();
    await this.client.close();
  }

  /** An outage after the first read does not take the process out of service: it answers 503, ingestion goes on. */
  private demandFirstRead(): void {
    if (this.feed.run === 0) throw new Error('The authorization registry has not been read yet');
  }

  private demandUp(): void {
    if (this.feed.isDown) throw new Error('The authorization registry did not answer the last read');
  }
}

/** The parts by which a credential becomes a caller, one of each in a process. */
function resolution(): Provider[] {
  return [
    { provide: CredentialCache, useFactory: () => new CredentialCache() },
    {
      provide: ChangeFeed,
      useFactory: (source: AuthorizationSource, cache: CredentialCache) =>
        new ChangeFeed(source, cache, monotonic),
      inject: [AuthorizationSource, CredentialCache],
    },
    {
      provide: KeyUsage,
      useFactory: (source: AuthorizationSource) => new KeyUsage(source),
      inject: [AuthorizationSource],
    },
    {
      provide: AccessTokens,
      useFactory: (source: AuthorizationSource) =>
        new AccessTokens(source, readConfig(serviceConfig.pick({ PUBLIC_URL: true })).PUBLIC_URL, monotonic),
      inject: [AuthorizationSource],
    },
    {
      provide: CredentialResolver,
      useFactory: (
        source: AuthorizationSource,
        cache: CredentialCache,
        feed: ChangeFeed,
        usage: KeyUsage,
        tokens: AccessTokens,
      ) => new CredentialResolver(source, cache, feed, usage, monotonic, tokens),
      inject: [AuthorizationSource, CredentialCache, ChangeFeed, KeyUsage, AccessTokens],
    },
    {
      provide: ApiCredentialStrategy,
      useFactory: (passport: ApplicationPassport, resolver: CredentialResolver) =>
        new ApiCredentialStrategy(passport, resolver),
      inject: [ApplicationPassport, CredentialResolver],
    },
  ];
}

function sourceProvider({ source }: AuthorizationModuleOptions): Provider {
  if (source) return { provide: AuthorizationSource, useClass: source };
  return {
    provide: AuthorizationSource,
    useFactory: (client: InternalClient) => new HttpAuthorizationSource(client),
    inject: [InternalClient],
  };
}

function serviceTokens(module: ModuleName): ServiceTokens {
  const config = readConfig(secretsConfig.pick({ SERVICE_PRIVATE_KEY: true, SERVICE_PUBLIC_KEYS: true }));
  return new ServiceTokens(module, config);
}

/** Addresses of the modules that are called are demanded, the others taken if they are there. */
function addresses({ source, calls = [] }: AuthorizationModuleOptions): Partial<Record<ModuleName, string>> {
  const config = readConfig(peersConfig.partial());
  const known: Partial<Record<ModuleName, string>> = {
    core: config.CORE_INTERNAL_URL,
    crm: config.CRM_INTERNAL_URL,
    identity: config.IDENTITY_INTERNAL_URL,
    loyalty: config.LOYALTY_INTERNAL_URL,
    messaging: config.MESSAGING_INTERNAL_URL,
  };
  const demanded: ModuleName[] = source ? [...calls] : ['identity', ...calls];
  const missing = demanded.filter((module) => known[module] === undefined).map(internalUrlVariable);
  if (missing.length > 0) {
    throw new ConfigError(`The environment is incomplete: ${missing.join(', ')} missing.`);
  }
  return known;
}
