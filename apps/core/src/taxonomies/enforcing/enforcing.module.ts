import { Module } from '@nestjs/common';
import { TaxonomyCatalog } from '../taxonomy-catalog.js';
import { Enforcements } from './enforcements.js';

/** What taxonomies demand of events, for whoever takes or stores them. */
@Module({ providers: [Enforcements, TaxonomyCatalog], exports: [Enforcements, TaxonomyCatalog] })
export class EnforcingModule {}
