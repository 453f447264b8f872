import 'reflect-metadata';
import { bootstrap } from '@customer-platform/http';
import { coreApp } from './core.app.js';

await bootstrap(coreApp());
