import { Module } from '@nestjs/common';
import { AuditModule } from '@customer-platform/audit';
import { AuthorizationModule } from '@customer-platform/authorization';
import { DatabaseModule, organizationRetention, ReferencesModule } from '@customer-platform/database';
import { EventBusModule } from '@customer-platform/event-bus';
import { AttributeDefinition } from './attributes/attribute-definition.entity.js';
import { AttributesModule } from './attributes/attributes.module.js';
import { AuditLogModule } from './audit-log/audit-log.module.js';
import { CatalogsModule } from './catalogs/catalogs.module.js';
import { Contact } from './people/contacts/contact.entity.js';
import { PeopleModule } from './people/people.module.js';
import { DeadLettersModule } from './dead-letters/dead-letters.module.js';
import { EventsModule } from './events/events.module.js';
import { ImportsModule } from './imports/imports.module.js';
import { IngestionModule } from './ingestion/ingestion.module.js';
import { CORE_MIGRATIONS } from './migrations/core.migrations.js';
import { MembersModule } from './members/members.module.js';
import { ORGANIZATION_IN_CORE } from './organization-references.js';
import { ErasureWatch } from './operator/erasure-watch.js';
import { ProcessingModule } from './processing/processing.module.js';
import { RETAINED_EVENTS } from './retention/retained-events.js';
import { RETAINED_LETTERS } from './retention/retained-letters.js';
import { Segment } from './segments/segment.entity.js';
import { SegmentsModule } from './segments/segments.module.js';
import { SubjectRequestsModule } from './subject-requests/subject-requests.module.js';
import { TaxonomiesModule } from './taxonomies/taxonomies.module.js';
import { TimelineModule } from './timeline/timeline.module.js';
import { UsageModule } from './usage/usage.module.js';

/** Core: contacts, and the events that are about them. */
@Module({
  imports: [
    DatabaseModule.forRoot({
      module: 'core',
      entities: [AttributeDefinition, Contact, Segment],
      migrations: CORE_MIGRATIONS,
    }),
    EventBusModule.forRoot({ module: 'core' }),
    AuditModule.forRoot({ module: 'core' }),
    AuthorizationModule.forRoot({ module: 'core', calls: ['crm', 'loyalty', 'messaging'] }),
    ReferencesModule.forRoot({
      module: 'core',
      references: ORGANIZATION_IN_CORE,
      ask: ['crm', 'loyalty', 'messaging'],
    }),
    AttributesModule,
    AuditLogModule,
    CatalogsModule,
    DeadLettersModule,
    EventsModule,
    ImportsModule,
    IngestionModule,
    MembersModule,
    PeopleModule,
    ProcessingModule,
    SegmentsModule,
    SubjectRequestsModule,
    TaxonomiesModule,
    TimelineModule,
    UsageModule,
  ],
  providers: [ErasureWatch, organizationRetention(RETAINED_EVENTS, RETAINED_LETTERS)],
})
export class CoreModule {}
