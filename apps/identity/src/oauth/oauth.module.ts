import { Module } from '@nestjs/common';
import { readConfig, serviceConfig } from '@customer-platform/config';
import { retentionOf, type RetentionOptions } from '@customer-platform/database';
import { SessionsModule } from '../sessions/sessions.module.js';
import { Accounts } from './accounts.js';
import { BrowserStates } from './browser-states.js';
import { ClientSecretStrategy } from './client-secret.strategy.js';
import { ClientMetadata } from './client-metadata.js';
import { Exchanges } from './exchanges.js';
import { Interactions } from './interactions.js';
import { Jwks } from './jwks.js';
import { OAuthController } from './oauth.controller.js';
import { OrganizationChoice } from './organization-choice.js';
import { OrganizationClaims } from './organization-claims.js';
import { PlatformTokens } from './platform-tokens.js';
import { PrivateCallers } from './private-callers.js';
import { ProviderAdapters } from './provider-adapter.js';
import { ProviderPages } from './provider-pages.js';
import { Providers } from './providers.js';
import { SessionGrants } from './session-grants.js';
import { SignInPolicy } from './sign-in-policy.js';
import { StoredTokens } from './stored-tokens.js';

const EVERY_MS = 60_000;

/** A token is of no use after its end, not even to tell a copy of it: its session is over. */
const ENDED_TOKENS: RetentionOptions = {
  name: 'oauth-token-retention',
  table: 'oauth_tokens',
  where: 'old.expires_at < $1',
  oldestBy: 'expires_at',
  keptMs: EVERY_MS,
  everyMs: EVERY_MS,
};

const ENDED_BROWSER_STATES: RetentionOptions = {
  name: 'oauth-browser-state-retention',
  table: 'oauth_browser_states',
  ofNobody: true,
  where: 'old.expires_at < $1',
  oldestBy: 'expires_at',
  keptMs: 0,
  everyMs: EVERY_MS,
};

/** The OAuth 2 and OpenID Connect provider. */
@Module({
  imports: [SessionsModule],
  controllers: [OAuthController],
  providers: [
    Accounts,
    BrowserStates,
    ClientMetadata,
    ClientSecretStrategy,
    Exchanges,
    Interactions,
    Jwks,
    OrganizationChoice,
    OrganizationClaims,
    PlatformTokens,
    {
      provide: PrivateCallers,
      useFactory: () =>
        new PrivateCallers(readConfig(serviceConfig.pick({ PLATFORM_MODE: true })).PLATFORM_MODE === 'local'),
    },
    ProviderAdapters,
    ProviderPages,
    Providers,
    SessionGrants,
    SignInPolicy,
    StoredTokens,
    retentionOf(ENDED_TOKENS),
    retentionOf(ENDED_BROWSER_STATES),
  ],
  exports: [Interactions, OrganizationChoice, SessionGrants],
})
export class OAuthModule {}
