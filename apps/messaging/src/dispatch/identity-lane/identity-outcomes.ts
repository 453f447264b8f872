import { Injectable } from '@nestjs/common';
import { OutcomeRecorder } from '../gate/outcome-recorder.js';

/** The record of identity's mail is written apart: no organization's flood of outcomes stands before it. */
@Injectable()
export class IdentityOutcomes extends OutcomeRecorder {}
