import { Module } from '@nestjs/common';
import { ContentModule } from '../../content/content.module.js';
import { DispatchModule } from '../../dispatch/dispatch.module.js';
import { PeopleModule } from '../../people/people.module.js';
import { SettingsModule } from '../../settings/settings.module.js';
import { AcceptanceReader } from '../sends/acceptance-facts.js';
import { Audiences } from './audiences.js';
import { CampaignContentCheck } from './campaign-content.js';
import { CampaignCheck } from './check/campaign-check.js';
import { SampleMessage } from './check/sample-message.js';
import { CampaignsController } from './campaigns.controller.js';
import { CampaignsService } from './campaigns.service.js';
import { ErasedMembers } from './erased-members.js';
import { CampaignCounts } from './runs/campaign-counts.js';
import { CampaignMembersRepository } from './runs/campaign-members.repository.js';
import { CampaignRuns } from './runs/campaign-runs.js';
import { RunEnding } from './runs/ending.js';
import { ForgottenRuns } from './runs/forgotten-runs.js';
import { AudienceSnapshot } from './runs/audience-snapshot.js';
import { AudienceDispatch } from './runs/audience-dispatch.js';
import { KnownMembers } from './runs/known-members.js';
import { RunSignal } from './runs/run-signal.js';
import { RunWorker } from './runs/run-worker.js';

/** Campaigns and their runs. What they send passes the gate as everything does. */
@Module({
  imports: [ContentModule, DispatchModule, PeopleModule, SettingsModule],
  controllers: [CampaignsController],
  providers: [
    AcceptanceReader,
    AudienceSnapshot,
    Audiences,
    CampaignCheck,
    CampaignContentCheck,
    CampaignCounts,
    CampaignMembersRepository,
    CampaignRuns,
    CampaignsService,
    ErasedMembers,
    ForgottenRuns,
    AudienceDispatch,
    KnownMembers,
    RunEnding,
    RunSignal,
    RunWorker,
    SampleMessage,
  ],
  exports: [ErasedMembers],
})
export class CampaignsModule {}
