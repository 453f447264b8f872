import { END_WITHIN_MS } from '@customer-platform/testing';
import { jest } from '@jest/globals';
import './client.suite.js';
import './edges.suite.js';
import './erasure.suite.js';
import './identity-mail.suite.js';
import './impersonation.suite.js';
import './merge.suite.js';
import './new-user.suite.js';
import './purge.suite.js';
import './sender.suite.js';
import { endJourneys } from './journey.fixture.js';

jest.setTimeout(180_000);
afterAll(endJourneys, END_WITHIN_MS);
