// SPDX-License-Identifier: Apache-2.0
//
// Styles are taken in by the bundler.
declare module "*.css";
