import { Module } from '@nestjs/common';
import { AuthorizationModule } from '@customer-platform/authorization';
import { DatabaseModule } from '@customer-platform/database';
import { EventBusModule } from '@customer-platform/event-bus';
import { ContactRefsModule } from './contact-refs/contact-refs.module.js';
import { CRM_MIGRATIONS } from './migrations/index.js';
import { TimelineModule } from './timeline/timeline.module.js';

/** The CRM: what people note about contacts, and the timeline of what happened to them. */
@Module({
  imports: [
    DatabaseModule.forRoot({ module: 'crm', entities: [], migrations: CRM_MIGRATIONS }),
    EventBusModule.forRoot({ module: 'crm' }),
    AuthorizationModule.forRoot({ module: 'crm', calls: ['core'] }),
    ContactRefsModule,
    TimelineModule,
  ],
})
export class CrmModule {}
