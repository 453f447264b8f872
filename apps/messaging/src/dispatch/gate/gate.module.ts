import { Module, type FactoryProvider, type InjectionToken } from '@nestjs/common';
import { retentionOf } from '@customer-platform/database';
import { ContentModule } from '../../content/content.module.js';
import { PeopleModule } from '../../people/people.module.js';
import { SettingsModule } from '../../settings/settings.module.js';
import { IdentityLinks } from '../identity-lane/identity-links.js';
import { IdentityMailLimits, OLD_IDENTITY_MAILS } from '../identity-lane/identity-mail-limits.js';
import { MESSAGING_CONFIG, type MessagingConfig } from '../../vocabulary/config/messaging.config.js';
import { Tenants } from '../../background/organizations/tenants.js';
import { DispatchSignal } from '../sends/dispatch-signal.js';
import { StoredSendsModule } from '../sends/stored-sends.module.js';
import { Claims } from './claims.js';
import { DispatchBatch, StuckSends } from './dispatch-batch.js';
import { CAMPAIGN_LANES, Dispatcher, GENERAL_LANES, type DispatcherLanes } from './dispatcher.js';
import { GateChecksModule } from './gate-checks.module.js';
import { GatePassage } from './gate-passage.js';
import { OutcomeRecorder } from './outcome-recorder.js';
import { IdentityClaims } from '../identity-lane/identity-claims.js';
import { IDENTITY_BATCH, IdentityLane } from '../identity-lane/identity-lane.js';
import { IdentityOutcomes } from '../identity-lane/identity-outcomes.js';
import { IdentityPreparation } from '../identity-lane/identity-preparation.js';
import { Preparation, SendPreparation } from './preparation.js';
import { Settlement } from './settlement.js';
import { Transports } from '../transports/transports.js';

/** Injection token of the dispatcher of campaigns. */
const CAMPAIGN_DISPATCHER = Symbol('CAMPAIGN_DISPATCHER');

function dispatcherOf(provide: InjectionToken, lanes: DispatcherLanes): FactoryProvider<Dispatcher> {
  return {
    provide,
    inject: [MESSAGING_CONFIG, DispatchSignal, Claims, Transports, DispatchBatch, Tenants],
    useFactory: (
      config: MessagingConfig,
      signal: DispatchSignal,
      claims: Claims,
      transports: Transports,
      work: DispatchBatch,
      tenants: Tenants,
    ) => new Dispatcher(config, signal, claims, transports, work, tenants, lanes),
  };
}

/**
 * The one way from a send to the world. It exports nothing: whoever wants a message sent stores a send, and only what
 * passes the gate in here meets a transport (messaging.md §1). `gate.boundary.spec.ts` holds the imports to that.
 */
@Module({
  imports: [ContentModule, GateChecksModule, PeopleModule, SettingsModule, StoredSendsModule],
  providers: [
    Claims,
    DispatchBatch,
    dispatcherOf(Dispatcher, GENERAL_LANES),
    dispatcherOf(CAMPAIGN_DISPATCHER, CAMPAIGN_LANES),
    GatePassage,
    {
      provide: IDENTITY_BATCH,
      inject: [IdentityPreparation, GatePassage, Transports, IdentityOutcomes, Settlement, StuckSends],
      useFactory: (...parts: ConstructorParameters<typeof DispatchBatch>) => new DispatchBatch(...parts),
    },
    IdentityClaims,
    IdentityLane,
    IdentityLinks,
    IdentityMailLimits,
    IdentityOutcomes,
    IdentityPreparation,
    OutcomeRecorder,
    Preparation,
    { provide: SendPreparation, useExisting: Preparation },
    Settlement,
    StuckSends,
    Transports,
    retentionOf(OLD_IDENTITY_MAILS),
  ],
})
export class GateModule {}
