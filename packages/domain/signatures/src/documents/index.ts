import type { DocumentFormat } from './document.ts';
import { jsonReports } from './json-reports.ts';
import { junit } from './junit.ts';

export const documentFormats: readonly DocumentFormat[] = [junit, jsonReports];
export type { DocumentFormat, DocumentReader, DocumentState } from './document.ts';
